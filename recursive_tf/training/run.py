"""Training that may be stopped at any moment, and goes on to the same figures."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from recursive_tf import data, distribute
from recursive_tf.data import Forest
from recursive_tf.distribute import Distribution
from recursive_tf.distribute.fit import make_variables
from recursive_tf.distribute.parameter_server import fit_asynchronously
from recursive_tf.training.best import BestEpoch, Monitor, line_of
from recursive_tf.training.checkpoints import Checkpoints
from recursive_tf.training.curve import draw_curve
from recursive_tf.training.files import LOG, RunError, replaced, writing
from recursive_tf.training.fit_from import fit_from
from recursive_tf.training.lock import locked
from recursive_tf.training.order import Change, Order
from recursive_tf.training.position import Position
from recursive_tf.training.record import Line, Record
from recursive_tf.training.run_folder import RunFolder

# Trees a batch, where nothing is learned.
EVALUATION_BATCH = 256
# Of workers of a parameter server, between callbacks.
STEPS_AT_ONCE = 20
# How long another process that has the run may take to end.
PATIENCE_S, CLUSTER_PATIENCE_S = 1.0, 60.0
LOWEST_LOSS = Monitor("loss", "min")

Prepare = Callable[[Forest], Any]


class Run:
    """A run that this process has: no other one writes to its folder meanwhile.

    It is a context. If training is stopped, even by SIGKILL, the same program goes on
    from the last checkpoint when it is started again, and comes to the same figures, to
    the last bit. `fit` writes all that is in a `RunFolder` but `settings.json`,
    `words.txt`, `logs` and `tensorboard`, which are for the caller.

    >>> import tempfile
    >>> import recursive_tf as rtf
    >>> trees = rtf.data.generate("random", 20, vocabulary=10)
    >>> trees = trees.replace(labels=trees.tokens % 2)
    >>> encoder = rtf.layers.TreeEncoder(
    ...     rtf.layers.TreeRNNCell(4), keras.layers.Embedding(10, 4))
    >>> forest = rtf.layers.ForestInput()
    >>> model = keras.Model(forest, keras.layers.Dense(1)(encoder(forest)))
    >>> model.compile("sgd", "mse")
    >>> with rtf.training.Run(tempfile.mkdtemp()) as run:  # E.g. "runs/a".
    ...     best = run.fit(
    ...         model, trees[:16], trees[16:], epochs=2, batch_size=8, verbose=0,
    ...         prepare=lambda forest: (forest, tf.gather(forest.labels, forest.roots)))
    >>> best == min(run.folder.epochs(), key=lambda line: line["dev_loss"])
    True
    >>> model = run.folder.load_best()

    In a cluster, all processes have the run, and its chief writes. Whoever writes in
    `fit` holds the lock. Where there is a cluster, `with` takes no lock yet, because
    only the distribution says which process writes.

    Attributes:
        folder: Where its files are.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | RunFolder,
        patience_s: float | None = None,
    ) -> None:
        """Names the folder, which is made when the run begins.

        Args:
            folder: In a cluster, one that all processes see.
            patience_s: How long to wait for another process that has the run, in
                seconds. None: a second, or a minute for processes that train together:
                a file server may hold the lock of a lost machine for a while.
        """
        path = folder.path if isinstance(folder, RunFolder) else folder
        self.folder = RunFolder(pathlib.Path(path))
        self._patience_s = patience_s
        self._is_begun = self._is_held = False
        self._at_end = contextlib.ExitStack()

    def __enter__(self) -> Run:
        """Takes the lock of the folder, unless this process is in a cluster.

        Raises:
            RunError: If another process has the run, or the folder cannot be made.
        """
        if not distribute.is_in_cluster():
            self._hold(PATIENCE_S)
        self._is_begun = True
        return self

    def __exit__(self, *error: object) -> None:
        """Lets the lock go."""
        self._at_end.close()
        self._is_begun = self._is_held = False

    def hold(self) -> None:
        """Takes the lock now, if this process does not have it.

        `fit` does so in the process that is to write. Call it in that process of a
        cluster before you write files of your own to the folder.

        Raises:
            RunError: If another process has the run, or the folder cannot be made.
            RuntimeError: If the run was not begun.
        """
        self._check_is_begun()
        self._hold(CLUSTER_PATIENCE_S if distribute.is_in_cluster() else PATIENCE_S)

    def _hold(self, patience_s: float) -> None:
        if self._is_held:
            return
        if self._patience_s is not None:
            patience_s = self._patience_s
        with contextlib.ExitStack() as held:
            if not self.folder.path.exists():
                held.callback(self.folder.remove_if_empty)
            held.enter_context(locked(self.folder.lock, patience_s))
            self._at_end = held.pop_all()
        self._is_held = True

    def _check_is_begun(self) -> None:
        if not self._is_begun:
            raise RuntimeError(
                f"The run in {self.folder.path} was not begun, so it has no lock of "
                "the folder. Write: with rtf.training.Run(folder) as run: run.fit(...)"
            )

    def fit(  # noqa: PLR0913 (as Keras's fit)
        self,
        model: keras.Model,
        train: Forest,
        dev: Forest,
        *,
        epochs: int,
        batch_size: int,
        seed: int = 0,
        prepare: Prepare | None = None,
        change: Change | None = None,
        best_by: Monitor = LOWEST_LOSS,
        checkpoint_every: int = 200,
        distribution: Distribution | None = None,
        callbacks: keras.callbacks.Callback | Sequence[keras.callbacks.Callback] = (),
        verbose: int = 1,
    ) -> Line | None:
        """Trains for all epochs that are not done yet.

        Each epoch has another order of the trees, which follows from the seed and the
        number of the epoch. Call `keras.utils.set_random_seed(seed)` before you make
        the model: weights and dropout are to be the same in all processes.

        Args:
            model: Compiled; made in the scope of the distribution's strategy.
            train: The trees to learn from.
            dev: The trees to measure on after each epoch: the development split.
            epochs: How many passes over the training trees there are in all.
            batch_size: How many trees a step takes, of all replicas together.
            seed: Of the order.
            prepare: Makes what the model takes of a batch, e.g.
                `lambda forest: (forest, forest.labels)`; None if it takes forests.
            change: What is done to a batch before that, in training alone.
            best_by: What decides which epoch's model is kept.
            checkpoint_every: At least so many steps are from a checkpoint to the next.
                There is one at the end of each epoch, too.
            distribution: From `rtf.distribute.make_distribution`; None if this process
                alone takes steps.
            callbacks: One or several. They are called before what writes the files, and
                begin anew when training goes on. In a cluster, each process has its
                own.
            verbose: 1 shows Keras's progress bar, 2 a line an epoch, and 0 nothing.

        Returns:
            The record's line of the best epoch. None in processes that write nothing,
            and if training was stopped before an epoch was done.

        Raises:
            RunError: If a file is damaged or cannot be written, or the run began with
                another number of trees, another batch size or another seed.
            ClusterError: If another process of the cluster is lost.
            RuntimeError: If the run was not begun: `fit` stands in a `with`.
            TypeError: If trees are no forest.
            ValueError: If the model is not compiled, there are no trees, or the batch
                size is not positive.
        """
        self._check_is_begun()
        _check(model, train, dev, batch_size)
        here = distribution or distribute.make_distribution()
        if here.is_chief:
            self._hold(CLUSTER_PATIENCE_S if _is_of_several(here) else PATIENCE_S)
        order = Order(train, batch_size, seed, change)
        validation = _prepared(data.batches(dev, EVALUATION_BATCH), prepare)
        make_variables(model, validation.element_spec)
        best_by.check(model)
        fit, share = _of(model, here, checkpoint_every)
        last = Checkpoints(
            model,
            self.folder.last,
            steps=order.num_batches,
            every=checkpoint_every,
            distribution=here,
        )
        if last.position is not None:
            order.check(self.folder.order)
        if isinstance(callbacks, keras.callbacks.Callback):
            callbacks = [callbacks]
        all_callbacks = [order, *callbacks]
        chief = _Chief(self.folder, order, last, best_by) if here.is_chief else None
        all_callbacks += [last] if chief is None else chief.callbacks
        with distribute.naming_lost(), _drawn(chief):
            fit_from(
                last.position or Position(),
                fit,
                lambda skip: share(_prepared(order.batches(skip), prepare)),
                model,
                steps=order.num_batches,
                validation_data=share(validation),
                epochs=epochs,
                callbacks=all_callbacks,
                verbose=verbose if here.is_chief else 0,
            )
        return None if chief is None else chief.best()


def _check(model: keras.Model, train: Forest, dev: Forest, batch_size: int) -> None:
    if not model.compiled:
        raise ValueError(
            f"{model.name} is not compiled, so nothing says how it learns. Call "
            "model.compile(optimizer, loss) before fit."
        )
    for name, trees in (("train", train), ("dev", dev)):
        if not isinstance(trees, Forest):
            raise TypeError(
                f"fit takes trees, a recursive_tf.data.Forest, as {name}. Got "
                f"{trees!r}."
            )
        if not len(trees):
            raise ValueError(
                f"{name} has no trees: an epoch learns from some, and is measured on "
                "others."
            )
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size}: a step takes one tree at least.")


def _is_of_several(here: Distribution) -> bool:
    """Whether other processes take steps of the training, too."""
    kinds = (
        tf.distribute.MultiWorkerMirroredStrategy,
        tf.distribute.ParameterServerStrategy,
    )
    return isinstance(here.strategy, kinds)


def _prepared(batches: tf.data.Dataset, prepare: Prepare | None) -> tf.data.Dataset:
    return batches if prepare is None else batches.map(prepare)


def _of(
    model: keras.Model, here: Distribution, checkpoint_every: int
) -> tuple[Callable[..., Any], Callable[[tf.data.Dataset], Any]]:
    """Returns what fits a model under a strategy, and what shares its batches."""
    if here.is_shared:
        distribute.enable_fit(model)
        return model.fit, functools.partial(distribute.shards, strategy=here.strategy)
    fit = model.fit
    if isinstance(here.strategy, tf.distribute.ParameterServerStrategy):
        steps = model.steps_per_execution
        if steps == 1:  # Keras's default: workers would take turns.
            steps = min(STEPS_AT_ONCE, checkpoint_every)
        fit = functools.partial(
            fit_asynchronously, model, here.strategy, steps_at_once=steps
        )
    return fit, lambda batches: batches


class _Chief:
    """What the process does that writes the files of a run."""

    def __init__(
        self, folder: RunFolder, order: Order, last: Checkpoints, best_by: Monitor
    ) -> None:
        if last.position is None and (done := _num_done(folder)) > 1:
            raise RunError(
                f"{folder.last} has no checkpoint any more, and {done} epochs were "
                "done. Put back a copy of it, or begin another run in another folder."
            )
        with writing(folder.path):
            folder.path.mkdir(parents=True, exist_ok=True)
        order.save(folder.order)
        self._folder, self._last = folder, last
        epochs = last.position.epochs if last.position else 0
        self._record = Record(folder.metrics, order.num_trees, epochs, last.seconds)
        self._best = BestEpoch(folder.best, self._record, best_by)
        # The last of all says that all else is there.
        self.callbacks = [self._record, self._best, last]
        self._draws = importlib.util.find_spec("matplotlib") is not None
        if not self._draws:
            LOG.warning(
                "No picture of the run will be drawn, since matplotlib is not "
                "installed. Run: pip install 'recursive_tf[data]'"
            )

    def draw(self) -> None:
        """Draws the picture of the epochs that are done."""
        if self._draws and self._record.epochs:
            with replaced(self._folder.curve) as new:
                draw_curve(self._record.epochs, new)

    def best(self) -> Line | None:
        """Returns the line of the epoch whose model is kept; None if none is done."""
        if not self._last.position or not self._last.position.epochs:
            return None
        if self._best.line is None:
            raise RunError(
                f"All epochs are done, but {self._folder.best} was lost: let one more "
                "epoch follow."
            )
        return self._best.line


def _num_done(folder: RunFolder) -> int:
    """Returns how many epochs were done, by the record or the best model."""
    of_best = line_of(folder.best)
    lines = folder.epochs() + ([] if of_best is None else [of_best])
    return max((int(line["epoch"]) for line in lines), default=0)


@contextlib.contextmanager
def _drawn(chief: _Chief | None) -> Iterator[None]:
    """Where a run trains; its picture is drawn also of training that ends early."""
    if chief is None:
        yield
        return
    try:
        yield
    except BaseException:
        with contextlib.suppress(RunError):  # The one before is what matters.
            chief.draw()
        raise
    chief.draw()
