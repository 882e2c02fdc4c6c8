"""The modes of a script: what it does with a model."""

import dataclasses
import functools
import json
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf
from absl import app, flags, logging

import recursive_tf as rtf
from models.running import local_cluster
from models.running import settings as all_settings
from models.running.distribution import OF_PROCESSES, cluster_resolver, jobs_of
from models.running.run_folder import RunFolder
from models.running.settings import Settings
from models.running.task import Task
from models.running.training import EVALUATION_BATCH, print_result, train

MAY_CHANGE = (
    "epochs",
    "executor",
    "strategy",
    "num_workers",
)  # Of a run that is resumed.

# What TensorFlow raises in a process when another one is gone.
LOST = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.UnavailableError,
)

_MODE = flags.DEFINE_enum(
    "mode",
    "train",
    ["train", "evaluate", "predict", "export"],
    "train: train a model. evaluate: print the metrics of a split, as JSON. predict: "
    "print what the model says of each argument, or of each line of the standard "
    "input. export: write a SavedModel.",
)
_SPLIT = flags.DEFINE_enum("split", "dev", all_settings.SPLITS, "To evaluate.")
_CHECKPOINT_DIR = flags.DEFINE_string(
    "checkpoint_dir", None, "Folder of the run. [when training: runs/<model>_<time>]"
)
_RESUME = flags.DEFINE_boolean(
    "resume", False, "Go on with the run in --checkpoint_dir."
)
_RESTARTABLE = flags.DEFINE_boolean(
    "restartable",
    False,
    "Begin a run in --checkpoint_dir, or go on with the one that is there: for what "
    "starts a command once more when it has failed.",
)
_MAX_RESTARTS = flags.DEFINE_integer(
    "max_restarts",
    3,
    "How often all processes of this machine are started anew after one of them was "
    "killed.",
    lower_bound=0,
)
_CLUSTER_TIMEOUT_S = flags.DEFINE_float(
    "cluster_timeout_s",
    60.0,
    "How long to wait for the other processes of a cluster.",
    lower_bound=0.0,
)
_SVG = flags.DEFINE_string("svg", None, "Where to draw the trees of --mode=predict.")
_EXPORT_DIR = flags.DEFINE_string(
    "export_dir", None, "Folder of the SavedModel. [<checkpoint_dir>/saved_model]"
)


def run(task: Task) -> None:
    """Runs a script for a model."""
    all_settings.define_flags(task.generated, task.given)
    app.run(functools.partial(main, task))


def main(task: Task, arguments: Sequence[str]) -> None:
    """Does what the flags say.

    Args:
        task: The model.
        arguments: The command line without flags.
    """
    logging.set_verbosity(logging.WARNING)  # The screen is the progress bar's.
    inputs = arguments[1:]
    if inputs and _MODE.value != "predict":
        raise app.UsageError(f"Unexpected arguments: {inputs}")
    try:
        if _MODE.value == "train":
            _train(task)
        elif _MODE.value == "predict":
            _predict(task, inputs or sys.stdin.read().splitlines())
        else:
            {"evaluate": _evaluate, "export": _export}[_MODE.value](task)
    except rtf.data.ReadError as error:
        sys.exit(f"--data: {error}")
    except rtf.distribute.ClusterError as error:
        sys.exit(str(error))


def _train(task: Task) -> None:
    given = all_settings.given_flags(type(task.given))
    if _RESUME.value or (_RESTARTABLE.value and _is_there(_CHECKPOINT_DIR.value)):
        run_folder = _existing_run()
        settings = _changed(_settings_of(task, run_folder), given)
    else:
        defaults = task.given if given.get("data") else task.generated
        settings = dataclasses.replace(defaults, **given)
        run_folder = _new_run(task)
    if settings.strategy in OF_PROCESSES and cluster_resolver() is None:
        _train_here(settings, run_folder)
        return
    try:
        result = train(task, settings, run_folder, _CLUSTER_TIMEOUT_S.value)
    except LOST as error:
        if settings.strategy not in OF_PROCESSES:
            raise
        sys.exit(
            "Another process of the cluster has ended, or cannot be reached. See in "
            "its log why, and start all of them again with --resume. TensorFlow says: "
            f"{error.message.splitlines()[0]}"
        )
    if result is not None:
        print_result(result)


def _train_here(settings: Settings, run_folder: RunFolder) -> None:
    """Trains with processes of this machine, started anew after one was killed."""
    command = [sys.executable, *sys.orig_argv[1:], "--restartable"]
    command.append(f"--checkpoint_dir={run_folder.path}")
    jobs = jobs_of(settings)
    print(
        f"{sum(jobs.values())} processes; their logs are in {run_folder.logs}.",
        flush=True,
    )
    to_go_on = f"To go on: --resume --checkpoint_dir={run_folder.path}"
    for restart in range(_MAX_RESTARTS.value + 1):
        try:
            failed = local_cluster.run(command, jobs, run_folder.logs)
        except KeyboardInterrupt:
            sys.exit(f"Stopped. {to_go_on}")
        if failed is None:
            return
        if failed.code > 0 or restart == _MAX_RESTARTS.value:
            sys.exit(f"{failed}. {to_go_on}")
        print(
            f"{failed}. All start again, from the last epoch's checkpoint.", flush=True
        )


def _is_there(path: str | None) -> bool:
    return path is not None and RunFolder(pathlib.Path(path)).settings.exists()


def _new_run(task: Task) -> RunFolder:
    if _CHECKPOINT_DIR.value is None and cluster_resolver() is not None:
        sys.exit(
            "In a cluster, say where all processes find the run: --checkpoint_dir."
        )
    default = time.strftime(f"runs/{task.name}_%Y-%m-%d_%H-%M-%S")
    run_folder = RunFolder(pathlib.Path(_CHECKPOINT_DIR.value or default))
    if run_folder.settings.exists():
        sys.exit(
            f"There is a run in {run_folder.path}. To go on with it: --resume. For "
            "another one, choose another --checkpoint_dir."
        )
    return run_folder


def _existing_run() -> RunFolder:
    if _CHECKPOINT_DIR.value is None:
        sys.exit("Say which run: --checkpoint_dir=<folder>.")
    run_folder = RunFolder(pathlib.Path(_CHECKPOINT_DIR.value))
    if not run_folder.settings.exists():
        sys.exit(f"There is no run in {run_folder.path}: no {run_folder.settings}.")
    return run_folder


def _settings_of(task: Task, run_folder: RunFolder) -> Settings:
    return all_settings.load(type(task.given), run_folder.settings)


def _changed(settings: Settings, given: dict[str, Any]) -> Settings:
    """Returns the settings of a run that is resumed."""
    for name, value in given.items():
        if name not in MAY_CHANGE and value != getattr(settings, name):
            sys.exit(
                f"--{name}={value}: the run has {getattr(settings, name)}. A run that "
                f"is resumed may change {', '.join(MAY_CHANGE)} alone."
            )
    return dataclasses.replace(settings, **given)


def _load(task: Task) -> tuple[Settings, keras.Model, Any, RunFolder]:
    """Returns the settings, with what the flags say, and the best epoch's model."""
    run_folder = _existing_run()
    if not run_folder.best.exists():
        sys.exit(f"The run in {run_folder.path} has finished no epoch yet.")
    given = all_settings.given_flags(type(task.given))
    settings = dataclasses.replace(_settings_of(task, run_folder), **given)
    keras.utils.set_random_seed(settings.seed)
    model = keras.models.load_model(run_folder.best)
    return settings, model, run_folder.load_words(), run_folder


def _evaluate(task: Task) -> None:
    settings, model, words, run_folder = _load(task)
    trees = rtf.data.encode(task.read(settings, _SPLIT.value), tokens=words)
    batches = rtf.data.batches(trees, EVALUATION_BATCH)
    found = model.evaluate(batches, return_dict=True, verbose=0)
    found = {name: round(float(value), 6) for name, value in found.items()}
    about = {"split": _SPLIT.value, "trees": len(trees)}
    print(json.dumps(found | about | task.about(model, trees, run_folder)))


def _predict(task: Task, inputs: Sequence[str]) -> None:
    if not any(line.strip() for line in inputs):
        sys.exit("Nothing to predict: give arguments, or lines of the standard input.")
    _, model, words, _ = _load(task)
    trees = task.predict(model, words, inputs)
    if _SVG.value is not None:
        _draw(trees, pathlib.Path(_SVG.value))


def _draw(trees: rtf.data.Forest, path: pathlib.Path) -> None:
    """Writes a picture of each tree; of several, with numbers."""
    for number, tree in enumerate(trees, start=1):
        name = path.name if len(trees) == 1 else f"{path.stem}-{number}{path.suffix}"
        path.with_name(name).write_text(tree.to_svg(), encoding="utf-8")


def _export(task: Task) -> None:
    settings, model, words, run_folder = _load(task)
    settings = dataclasses.replace(settings, limit_trees=1)
    like = rtf.data.encode(task.read(settings, "dev"), tokens=words)
    folder = pathlib.Path(_EXPORT_DIR.value or run_folder.path / "saved_model")
    rtf.layers.export(model, folder, like=like)
    print(f"{folder}: a SavedModel. Its words are in {run_folder.path / 'words.txt'}.")
