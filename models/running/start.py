"""How training starts: a new run or one that goes on, here or in its own processes."""

import dataclasses
import pathlib
import sys
import time
from typing import Any

import tensorflow as tf
from absl import flags

from models.running import local_cluster
from models.running import settings as all_settings
from models.running.distribution import OF_PROCESSES, cluster_resolver, jobs_of
from models.running.run_folder import RunFolder
from models.running.settings import Settings
from models.running.task import Task
from models.running.training import print_result, train

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


def start(task: Task) -> None:
    """Trains a model, in a new run or in one that goes on."""
    given = all_settings.given_flags(type(task.given))
    if _RESUME.value or (_RESTARTABLE.value and _is_there(_CHECKPOINT_DIR.value)):
        run_folder = existing_run()
        settings = _changed(settings_of(task, run_folder), given)
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


def existing_run() -> RunFolder:
    """Returns the run in --checkpoint_dir."""
    if _CHECKPOINT_DIR.value is None:
        sys.exit("Say which run: --checkpoint_dir=<folder>.")
    run_folder = RunFolder(pathlib.Path(_CHECKPOINT_DIR.value))
    if not run_folder.settings.exists():
        sys.exit(f"There is no run in {run_folder.path}: no {run_folder.settings}.")
    return run_folder


def settings_of(task: Task, run_folder: RunFolder) -> Settings:
    """Returns the settings that a run has."""
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
