"""Trains a task's model, from the start or from where it was stopped."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import keras

import recursive_tf as rtf
from models.running import settings as all_settings
from models.running.held_out import divided
from models.running.progress import Progress
from models.running.settings import Settings
from models.running.task import Task, Vocabulary
from recursive_tf.data import Forest
from recursive_tf.training import Run, RunFolder

# Several steps a call of Python, which would else take longer than small trees do.
STEPS_PER_EXECUTION = 20


def train(
    task: Task,
    settings: Settings,
    run: Run,
    timeout_s: float = 60.0,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> dict[str, Any] | None:
    """Trains for all epochs that are not done yet.

    Args:
        task: The model and its data.
        settings: Of the run.
        run: Its folder, which all processes see if there are several.
        timeout_s: How long to wait for other processes, in seconds.
        callbacks: As of `Run.fit`. The run's settings and words are written before
            training begins.

    Returns:
        The best epoch's line of the record, and where the files are; in the processes
        of a cluster that write nothing, None.
    """
    distribution = rtf.distribute.make_distribution(
        settings.strategy, settings.num_workers, timeout_s
    )
    keras.utils.set_random_seed(settings.seed)
    train_trees, dev_trees, known = _read(task, settings)
    words = task.vocabulary(known)
    train_trees, dev_trees, known = (
        rtf.data.encode(trees, tokens=words)
        for trees in (train_trees, dev_trees, known)
    )
    with distribution.strategy.scope():
        model = task.build(settings, known, words)
    task.check(model, dev_trees, "dev")
    model.steps_per_execution = min(STEPS_PER_EXECUTION, settings.checkpoint_every)
    with contextlib.ExitStack() as shown:
        if distribution.is_chief:
            _save(settings, words, run.folder)
            progress = shown.enter_context(
                _shown(Progress(len(train_trees), settings.batch_size))
            )
            board = keras.callbacks.TensorBoard(
                run.folder.tensorboard, write_graph=False
            )
            callbacks = [progress, board, *callbacks]
        best = run.fit(
            model,
            train_trees,
            dev_trees,
            epochs=settings.epochs,
            batch_size=settings.batch_size,
            seed=settings.seed,
            change=task.change(settings, train_trees, words),
            best_by=task.monitor(settings, model),
            checkpoint_every=settings.checkpoint_every,
            distribution=distribution,
            callbacks=callbacks,
            verbose=0,
        )
    return None if best is None else _result(best, run.folder)


def _read(task: Task, settings: Settings) -> tuple[Forest, Forest, Forest]:
    """Returns the trees to learn from, to measure on, and to take words from."""
    train_trees, held_out = divided(task.read(settings, "train"), settings)
    dev_trees = held_out if settings.hold_out else task.read(settings, "dev")
    known = task.known(settings, train_trees)
    if known is not train_trees:
        known, _ = divided(known, settings)
    return train_trees, dev_trees, known


@contextlib.contextmanager
def _shown(progress: Progress) -> Iterator[Progress]:
    """A progress bar, whose line ends also where training does not."""
    try:
        yield progress
    finally:
        progress.close()


def _save(settings: Settings, words: Vocabulary, folder: RunFolder) -> None:
    """Writes what there is before the first epoch."""
    with rtf.training.writing(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
    all_settings.save(settings, folder.settings)
    folder.save_words(words)


def _result(best: dict[str, float], folder: RunFolder) -> dict[str, Any]:
    """Returns what is printed in the end."""
    epochs = folder.epochs()
    # The first epoch's time is also that of tracing.
    timed = epochs[1:] or epochs
    trees = sum(epoch["trees_per_s"] * epoch["seconds"] for epoch in timed)
    seconds = sum(epoch["seconds"] for epoch in timed)
    dev = {name: round(v, 4) for name, v in best.items() if name.startswith("dev_")}
    return (
        {"epoch": best["epoch"]}
        | dev
        | {
            "trees_per_s": round(trees / seconds, 1),
            "seconds": round(sum(epoch["seconds"] for epoch in epochs), 1),
            "picture": str(folder.curve),
            "checkpoint": str(folder.best),
        }
    )


def print_result(result: dict[str, Any]) -> None:
    """Prints the line that a program may read."""
    print("result:", json.dumps(result), flush=True)
