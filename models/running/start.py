"""How training starts: a new run or one that goes on, here or in its own processes."""

import contextlib
import dataclasses
import itertools
import pathlib
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from absl import flags

import recursive_tf as rtf
from models.running import settings as all_settings
from models.running.settings import Settings
from models.running.task import Task
from models.running.training import print_result, train
from recursive_tf.training import Run, RunFolder, writing

MAY_CHANGE = (
    "checkpoint_every",
    "epochs",
    "executor",
    "strategy",
    "num_workers",
)  # Of a run that is resumed.

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
    "killed, or had lost its port before it could listen there.",
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
    resolver = rtf.distribute.cluster_resolver()
    run_folder = _chosen_folder(task)
    with contextlib.ExitStack() as held, _told_how_to_go_on(run_folder):
        if _CHECKPOINT_DIR.value is None:
            held.callback(run_folder.remove_if_empty)
        patience_s = None if resolver is None else _CLUSTER_TIMEOUT_S.value
        run = held.enter_context(Run(run_folder, patience_s))
        if rtf.distribute.leads(resolver):
            run.hold()  # Before settings are read.
        settings = _settings(task, run_folder)
        jobs = rtf.distribute.jobs_of(settings.strategy, settings.num_workers)
        if jobs and resolver is None:
            held.close()  # The lock is for the chief, which is started here.
            _train_here(jobs, run_folder)
            return
        result = _trained(task, settings, run)
    if result is not None:
        print_result(result)


@contextlib.contextmanager
def _told_how_to_go_on(run_folder: RunFolder) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(f"Stopped.{_to_go_on(run_folder)}")


def _to_go_on(run_folder: RunFolder) -> str:
    """Says how to go on with the run, if there is one."""
    if not run_folder.settings.exists():
        return ""
    return f" To go on: --resume --checkpoint_dir={run_folder.path}"


def _settings(task: Task, run_folder: RunFolder) -> Settings:
    """Returns the settings of a run that goes on, or of a new one."""
    given = all_settings.given_flags(type(task.given))
    is_there = run_folder.settings.exists()
    if is_there and (_RESUME.value or _RESTARTABLE.value):
        return _changed(settings_of(task, run_folder), given)
    if is_there:
        sys.exit(
            f"There is a run in {run_folder.path}. To go on with it: --resume. For "
            "another one, choose another --checkpoint_dir."
        )
    defaults = task.given if given.get("data") else task.generated
    return dataclasses.replace(defaults, **given)


def _trained(task: Task, settings: Settings, run: Run) -> dict[str, Any] | None:
    try:
        with rtf.distribute.naming_lost():
            result = train(task, settings, run, _CLUSTER_TIMEOUT_S.value)
            rtf.distribute.leave_cluster()
    except rtf.distribute.ClusterError as error:
        sys.exit(f"{error}{_to_go_on(run.folder)}")
    return result


def _train_here(jobs: Mapping[str, int], run_folder: RunFolder) -> None:
    """Trains with processes of this machine, started anew after one was killed."""
    command = [sys.executable, *sys.orig_argv[1:], "--restartable"]
    command.append(f"--checkpoint_dir={run_folder.path}")
    print(
        f"{sum(jobs.values())} processes; their logs are in {run_folder.logs}.",
        flush=True,
    )
    for restart in range(_MAX_RESTARTS.value + 1):
        with writing(run_folder.logs):
            failed = rtf.distribute.run_cluster(command, jobs, run_folder.logs)
        if failed is None:
            return
        if not failed.may_start_again or restart == _MAX_RESTARTS.value:
            sys.exit(f"{failed}.{_to_go_on(run_folder)}")
        print(f"{failed}. All start again, from the last checkpoint.", flush=True)


def _chosen_folder(task: Task) -> RunFolder:
    """Returns the folder of a run that goes on, or of a new one."""
    if _RESUME.value:
        return existing_run()
    if _CHECKPOINT_DIR.value is not None:
        return RunFolder(pathlib.Path(_CHECKPOINT_DIR.value))
    if rtf.distribute.cluster_resolver() is not None:
        sys.exit(
            "In a cluster, say where all processes find the run: --checkpoint_dir."
        )
    base = time.strftime(f"runs/{task.name}_%Y-%m-%d_%H-%M-%S")
    names = (f"{base}_{number}" for number in itertools.count(2))
    for path in map(pathlib.Path, itertools.chain([base], names)):
        with writing(path.parent):
            path.parent.mkdir(exist_ok=True)
            # Others may begin in the same second.
            with contextlib.suppress(FileExistsError):
                path.mkdir()
                break
    return RunFolder(path)


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
