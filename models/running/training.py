"""Trains a task's model, from the start or from where it was stopped."""

import contextlib
import functools
import json
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from models.running import settings as all_settings
from models.running.best import BestEpoch
from models.running.checkpoints import Checkpoints
from models.running.curve import draw_curve
from models.running.files import RunError, replaced, writing
from models.running.fit_from import fit_from
from models.running.order import Order
from models.running.position import Position
from models.running.progress import Progress
from models.running.record import DEV, Line, Record, read
from models.running.run_folder import RunFolder
from models.running.settings import Settings
from models.running.task import Task
from recursive_tf.distribute.parameter_server import fit_asynchronously

# Several steps a call of Python, which would else take longer than small trees do.
STEPS_PER_EXECUTION = 20
EVALUATION_BATCH = 256


def train(
    task: Task, settings: Settings, run: RunFolder, timeout_s: float = 60.0
) -> dict[str, Any] | None:
    """Trains for all epochs that are not done yet.

    Args:
        task: The model and its data.
        settings: Of the run.
        run: Its folder, which all processes see if there are several.
        timeout_s: How long to wait for other processes, in seconds.

    Returns:
        The best epoch's line of the record, and where the files are; in the processes
        of a cluster that write nothing, None.
    """
    distribution = rtf.distribute.make_distribution(
        settings.strategy, settings.num_workers, timeout_s
    )
    strategy = distribution.strategy
    keras.utils.set_random_seed(settings.seed)
    train_trees, dev_trees = (task.read(settings, split) for split in ("train", "dev"))
    known = task.known(settings, train_trees)
    words = task.vocabulary(known)
    train_trees, dev_trees, known = (
        rtf.data.encode(trees, tokens=words)
        for trees in (train_trees, dev_trees, known)
    )
    with strategy.scope():
        model = task.build(settings, known, words)
    task.check(model, dev_trees, "dev")
    model.steps_per_execution = min(STEPS_PER_EXECUTION, settings.checkpoint_every)
    change = task.change(settings, train_trees, words)
    order = Order(train_trees, settings.batch_size, settings.seed, change)
    fit: Callable[..., Any] = model.fit
    share: Callable[..., Any] = _as_they_are
    if distribution.is_shared:
        rtf.distribute.enable_fit(model)
        share = functools.partial(rtf.distribute.shards, strategy=strategy)
    elif settings.strategy == "parameter_server":
        fit = functools.partial(fit_asynchronously, model, strategy)
    every = settings.checkpoint_every
    last = Checkpoints(model, run.last, distribution, every, order.num_batches)
    callbacks: list[keras.callbacks.Callback] = [order, last]
    chief = None
    if distribution.is_chief:
        chief = _Chief(task, settings, run, model, len(train_trees), last)
        chief.save(settings, words)
        callbacks = [order, *chief.callbacks]
    try:
        fit_from(
            last.position or Position(),
            fit,
            lambda skip: share(order.batches(skip)),
            model,
            validation_data=share(rtf.data.batches(dev_trees, EVALUATION_BATCH)),
            epochs=settings.epochs,
            callbacks=callbacks,
        )
    except BaseException:
        if chief is not None:
            with contextlib.suppress(RunError):  # The one before is what matters.
                chief.end()
        raise
    if chief is None:
        return None
    chief.end()
    return chief.result()


def _as_they_are(batches: tf.data.Dataset) -> tf.data.Dataset:
    return batches


class _Chief:
    """What the process does that writes the files of a run."""

    def __init__(
        self,
        task: Task,
        settings: Settings,
        run: RunFolder,
        model: keras.Model,
        trees: int,
        last: Checkpoints,
    ) -> None:
        if last.position is None and len(read(run.metrics)) > 1:
            raise RunError(
                f"{run.last} has no checkpoint any more, and {run.metrics} has epochs. "
                "Put back a copy of it, or begin another run: choose another "
                "--checkpoint_dir."
            )
        first = last.position or Position()
        self._run = run
        self._record = Record(run.metrics, trees, first.epochs, last.seconds)
        self._best = BestEpoch(run.best, self._record, task.monitor(settings, model))
        self._progress = Progress(trees, settings.batch_size, settings.epochs, first)
        self.callbacks = [
            self._progress,
            self._record,
            keras.callbacks.TensorBoard(run.tensorboard, write_graph=False),
            self._best,
            last,  # The last of all: it says that all else is there.
        ]

    def save(self, settings: Settings, words: Any) -> None:
        """Writes what there is before the first epoch."""
        with writing(self._run.path):
            self._run.path.mkdir(parents=True, exist_ok=True)
        all_settings.save(settings, self._run.settings)
        self._run.save_words(words)

    def end(self) -> None:
        """Draws the picture, also of training that ends early."""
        self._progress.close()
        if self._record.epochs:
            with replaced(self._run.curve) as new:
                draw_curve(self._record.epochs, new)

    def result(self) -> dict[str, Any]:
        """Returns what is printed in the end."""
        if self._best.line is None:
            raise RunError(
                f"All epochs are done, but {self._run.metrics} or {self._run.best} "
                "was lost: let one more follow by --epochs."
            )
        return _result(self._record.epochs, self._best.line, self._run)


def _result(epochs: list[Line], best: Line, run: RunFolder) -> dict[str, Any]:
    # The first epoch's time is also that of tracing.
    timed = epochs[1:] or epochs
    trees = sum(epoch["trees_per_s"] * epoch["seconds"] for epoch in timed)
    seconds = sum(epoch["seconds"] for epoch in timed)
    dev = {name: round(v, 4) for name, v in best.items() if name.startswith(DEV)}
    return (
        {"epoch": best["epoch"]}
        | dev
        | {
            "trees_per_s": round(trees / seconds, 1),
            "seconds": round(sum(epoch["seconds"] for epoch in epochs), 1),
            "picture": str(run.curve),
            "checkpoint": str(run.best),
        }
    )


def print_result(result: dict[str, Any]) -> None:
    """Prints the line that a program may read."""
    print("result:", json.dumps(result), flush=True)
