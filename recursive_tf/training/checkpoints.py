"""The last checkpoints, which training goes on from."""

import contextlib
import itertools
import os
import pathlib
import re
import shutil
import time
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute import ClusterError, Distribution, make_distribution
from recursive_tf.distribute.fit import lacks_variables, make_variables
from recursive_tf.distribute.lost import LOST
from recursive_tf.training import contents
from recursive_tf.training.contents import Contents
from recursive_tf.training.files import LOG, RunError, writing
from recursive_tf.training.position import Position, SoFar, values

# The last one, and one to fall back to.
KEPT = 2
_PART = re.compile(r"ckpt-(\d+)(?:-(\d+))?([._].*)")


class Checkpoints(keras.callbacks.Callback):
    """Saves what training goes on from: after each epoch, and within it.

    That is weights, optimizer, the states of random numbers, and within an epoch also
    what it gave so far. A checkpoint counts once it is whole, so a process may end at
    any moment. Where there are several, each restores what the chief saved.

    It comes last among callbacks, because a checkpoint says that all else of its epoch
    is there. The order of `Run.fit` is `Order`, callbacks of your own, `Record`,
    `BestEpoch`, `Checkpoints`.

    If a callback before this one sets `stop_training` within an epoch, the position
    within the epoch is saved, and the epoch is not done.

    Keras's `BackupAndRestore` goes on to other figures: it does not keep the states of
    random numbers nor what metrics have counted, and a kill may fall between its files.

    >>> import tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> model = keras.Sequential([keras.Input([1]), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> batches = tf.data.Dataset.from_tensor_slices(([[1.0]] * 4, [1.0] * 4)).batch(2)
    >>> def train(model, epochs):
    ...     last = Checkpoints(
    ...         model, folder, steps=2, element_spec=batches.element_spec)
    ...     begin = last.position.epochs if last.position else 0
    ...     model.fit(batches, initial_epoch=begin, epochs=epochs, shuffle=False,
    ...               verbose=0, callbacks=[last])
    ...     return begin, last.position
    >>> train(model, epochs=1)
    (0, Position(epochs=1, steps=0))
    >>> train(model, epochs=3)  # Also in another process, of a new model.
    (1, Position(epochs=3, steps=0))

    Attributes:
        position: How far training was in the last one; None if there is none.
        seconds: How long the steps of the epoch took that is not done.
    """

    def __init__(
        self,
        model: keras.Model,
        folder: str | os.PathLike[str],
        *,
        steps: int,
        every: int = 200,
        distribution: Distribution | None = None,
        element_spec: Any = None,
    ) -> None:
        """Restores the last checkpoint, if there is one, into a model.

        One that is damaged is passed over for the one before, and the user is told.

        Args:
            model: Compiled.
            folder: The chief's, which all processes see.
            steps: That an epoch has.
            every: At least so many steps are from one to the next.
            distribution: Whether this is the chief, and who takes steps; None if this
                process alone does.
            element_spec: Of the dataset of batches that the model is trained on. By it
                the variables are made that Keras makes of the first batch: those of the
                optimizer and of metrics. None if the model has them all.

        Raises:
            ValueError: If it does not have them, and nothing says what a batch is.
            RunError: If there are checkpoints, and none can be restored, or the last
                one is of another model or another optimizer.
            ClusterError: If a process does not see what others do.
        """
        super().__init__()
        distribution = distribution or make_distribution()
        _make_variables(model, element_spec)
        self._so_far = SoFar(model, distribution)
        # Metrics are not in that of an epoch: to read them is a step of all processes.
        kinds = {
            "weights": model.weights,
            "optimizer": model.optimizer.variables,
            "states": _states(model),
        }
        parts = {kind: values(variables) for kind, variables in kinds.items()}
        within = {"counts": self._so_far.counts, "seconds": self._so_far.seconds}
        self._contents = Contents(itertools.chain(*kinds.values()))
        said = {contents.NAME: self._contents.variable}
        self._of_epoch = tf.train.Checkpoint(**parts, **said)
        self._of_step = tf.train.Checkpoint(**parts, **said, **within)
        # Checkpoints of versions before this one do not say what they have.
        self._needed_of_epoch = tf.train.Checkpoint(**parts)
        self._needed_of_step = tf.train.Checkpoint(**parts, **within)
        self._is_chief = distribution.is_chief
        self._folder = pathlib.Path(folder)
        self._every = every
        self._steps = steps
        self._start = 0.0
        self._taken = 0
        self.position = self._restore()
        self.seconds = float(self._so_far.seconds) if self._at.steps else 0.0
        if distribution.is_shared:
            _check_all_see(self._at, distribution.strategy)

    @property
    def _at(self) -> Position:
        return self.position or Position()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Gives the metrics what they had, if the epoch goes on."""
        self._start = time.perf_counter()
        self._taken = 0
        if epoch == self._at.epochs and self._at.steps:
            self._so_far.put_back()
            self._start -= self.seconds

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Saves, if that is due, or if training stops here."""
        self._taken = steps = batch + 1
        is_due = steps - self._at.steps >= self._every or self.model.stop_training
        if not is_due or steps >= self._steps:
            return  # The last ones of an epoch are saved at its end.
        self._so_far.take(time.perf_counter() - self._start)
        self._save(Position(self._at.epochs, steps), self._of_step)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves, if all steps of the epoch were taken."""
        if self._taken >= self._steps:
            self._save(Position(epoch + 1), self._of_epoch)

    def _save(self, position: Position, parts: tf.train.Checkpoint) -> None:
        self.position = position
        if not self._is_chief:
            return
        with writing(self._folder):
            try:
                parts.write(str(self._path(position)))
            except BaseException:
                self._remove_but(positions_in(self._folder))  # Room for other files.
                raise
        before = [p for p in positions_in(self._folder) if p <= position]
        self._remove_but(before[:KEPT])

    def _restore(self) -> Position | None:
        """Returns how far training was in what was restored."""
        failed: list[RunError] = []
        for position in positions_in(self._folder):
            path = self._path(position)
            try:
                self._contents.check(path)
                is_within = position.steps > 0
                needed = self._needed_of_step if is_within else self._needed_of_epoch
                status = needed.read(str(path))
                status.assert_existing_objects_matched()
                status.expect_partial()  # What it says of itself is not asked for.
            except (*LOST, RunError):
                raise
            except Exception as error:  # Of damaged bytes it is of many types.
                why = getattr(error, "message", "") or str(error)
                why = why.partition("\n")[0].rstrip(".")
                failed.append(RunError.damaged(path, why))
                continue
            if failed:
                LOG.warning("%s Training goes on from %s.", failed[0], position)
            return position
        if failed:
            raise failed[0]
        return None

    def _path(self, position: Position) -> pathlib.Path:
        name = f"ckpt-{position.epochs}"
        if position.steps:
            name += f"-{position.steps}"
        return self._folder / name

    def _remove_but(self, kept: list[Position]) -> None:
        """Removes others, and what was left where a process was killed."""
        for path in self._folder.glob("ckpt-*"):
            found = _PART.fullmatch(path.name)
            if found is None or (_position(found) in kept and not path.is_dir()):
                continue
            with contextlib.suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _make_variables(model: keras.Model, element_spec: Any) -> None:
    if element_spec is not None:
        make_variables(model, element_spec)
    if lacks_variables(model):
        raise ValueError(
            "The model has not yet all variables that a checkpoint keeps: its first "
            "batch makes those of the optimizer and of metrics. Give Checkpoints what "
            "a batch is: element_spec=batches.element_spec."
        )


def positions_in(folder: pathlib.Path) -> list[Position]:
    """Returns the positions that have checkpoints, the last one first.

    The file of a checkpoint that is looked for here is the one that is written last.
    """
    found = (_PART.fullmatch(path.name) for path in folder.glob("ckpt-*.index"))
    whole = (part for part in found if part and part[3] == ".index")
    return sorted(map(_position, whole), reverse=True)


def _position(found: re.Match[str]) -> Position:
    return Position(int(found[1]), int(found[2] or 0))


def _check_all_see(position: Position, strategy: tf.distribute.Strategy) -> None:
    @tf.function
    def of_all() -> tf.Tensor:
        return strategy.gather(strategy.run(lambda: tf.constant([position])), axis=0)

    found = {Position(*row) for row in of_all().numpy().tolist()}
    if len(found) > 1:
        raise ClusterError(
            "The last checkpoints of the processes are of "
            f"{' and of '.join(map(str, sorted(found)))}. The folder of the "
            "run has to be one that all of them see."
        )


def _states(model: keras.Model) -> list[keras.Variable]:
    """Returns the states of random numbers, which Keras does not save."""
    saved = {id(variable) for variable in model.weights}
    return [v for v in model.variables if id(v) not in saved]
