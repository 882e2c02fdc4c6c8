"""Trains a task's model, from the start or from where it was stopped."""

import functools
import json
import sys
from collections.abc import Callable
from typing import Any

import keras

import recursive_tf as rtf
from models.running import settings as all_settings
from models.running.checkpoints import LastEpoch
from models.running.curve import draw_curve
from models.running.distribution import PARAMETER_SERVER, make_distribution
from models.running.order import Order
from models.running.parameter_server import fit_asynchronously
from models.running.progress import Progress
from models.running.record import DEV, Record
from models.running.run_folder import RunFolder
from models.running.settings import Settings
from models.running.task import Monitor, Task

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
    distribution = make_distribution(settings, timeout_s)
    strategy = distribution.strategy
    keras.utils.set_random_seed(settings.seed)
    train_trees, dev_trees = (task.read(settings, split) for split in ("train", "dev"))
    words = task.vocabulary(train_trees)
    train_trees, dev_trees = (
        rtf.data.encode(trees, tokens=words) for trees in (train_trees, dev_trees)
    )
    with strategy.scope():
        model = task.build(settings, train_trees, words)
    model.steps_per_execution = STEPS_PER_EXECUTION
    order = Order(train_trees, settings.batch_size, settings.seed)
    batches = [order.batches, rtf.data.batches(dev_trees, EVALUATION_BATCH)]
    fit: Callable[..., Any] = model.fit
    if distribution.is_shared:
        rtf.distribute.enable_fit(model)
        batches = [rtf.distribute.shards(part, strategy) for part in batches]
    elif settings.strategy == PARAMETER_SERVER:
        fit = functools.partial(fit_asynchronously, model, strategy)
    last = LastEpoch(model, run.last, distribution)
    callbacks = [order, last]
    if distribution.is_chief:
        run.path.mkdir(parents=True, exist_ok=True)
        all_settings.save(settings, run.settings)
        run.save_words(words)
        record = Record(run.metrics, len(train_trees), last.epoch)
        monitor = task.monitor(settings, model)
        callbacks = [
            order,
            Progress(
                len(train_trees), settings.batch_size, settings.epochs, last.epoch
            ),
            record,
            keras.callbacks.TensorBoard(run.tensorboard, write_graph=False),
            _best(run, record, monitor),
            last,  # The last of all: it says that all else is there.
        ]
    try:
        fit(
            batches[0],
            validation_data=batches[1],
            initial_epoch=last.epoch,
            epochs=settings.epochs,
            shuffle=False,
            verbose=0,
            callbacks=callbacks,
        )
    except KeyboardInterrupt:
        sys.exit(f"Stopped. To go on: --resume --checkpoint_dir={run.path}")
    finally:
        if distribution.is_chief and record.epochs:
            draw_curve(record.epochs, run.curve)
    return _result(record, monitor, run) if distribution.is_chief else None


def _best(run: RunFolder, record: Record, monitor: Monitor) -> keras.callbacks.Callback:
    return keras.callbacks.ModelCheckpoint(
        run.best,
        monitor=f"val_{monitor.name}",
        mode=monitor.mode,
        save_best_only=True,
        initial_value_threshold=record.best(monitor.name, monitor.mode),
    )


def _result(record: Record, monitor: Monitor, run: RunFolder) -> dict[str, Any]:
    best = record.best(monitor.name, monitor.mode)
    [found, *_] = [e for e in record.epochs if e[DEV + monitor.name] == best]
    # The first epoch's time is also that of tracing.
    timed = record.epochs[1:] or record.epochs
    trees = sum(epoch["trees_per_s"] * epoch["seconds"] for epoch in timed)
    seconds = sum(epoch["seconds"] for epoch in timed)
    dev = {name: round(v, 4) for name, v in found.items() if name.startswith(DEV)}
    return (
        {"epoch": found["epoch"]}
        | dev
        | {
            "trees_per_s": round(trees / seconds, 1),
            "seconds": round(sum(epoch["seconds"] for epoch in record.epochs), 1),
            "picture": str(run.curve),
            "checkpoint": str(run.best),
        }
    )


def print_result(result: dict[str, Any]) -> None:
    """Prints the line that a program may read."""
    print("result:", json.dumps(result), flush=True)
