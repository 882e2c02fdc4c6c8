"""Training by two nodes of a real Slurm, each a machine of its own in a network."""

import os
import pathlib
import signal
import sys
import time

import pytest

from models import tree_lstm
from recursive_tf.training.checkpoints import positions_in
from tests.clusters import slurm as slurm_module
from tests.clusters.machines import wait_for
from tests.clusters.slurm import Slurm
from tests.models.processes import close
from tests.models.scripts import SMALL, figures, train

pytestmark = [pytest.mark.slow, pytest.mark.large]

SOON_S = 120.0
CHOSEN = SMALL | {"epochs": 4, "limit_trees": 205, "checkpoint_every": 4}


@pytest.fixture
def slurm(tmp_path_factory):
    if why := slurm_module.why_not():
        pytest.skip(why)
    with Slurm(tmp_path_factory.mktemp("slurm")) as slurm:
        yield slurm


def start(slurm, folder, log):
    given = [f"--{name}={value}" for name, value in CHOSEN.items()]
    flags = ["--strategy=multi_worker", f"--checkpoint_dir={folder}", "--restartable"]
    command = [sys.executable, "-m", "models.tree_lstm", *flags, *given]
    return slurm.step(*command, log=log)


def pid_of_task(folder, rank):
    """Returns the process of a task that trains into a folder, by its environment."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        is_it = f"SLURM_PROCID={rank}".encode() in environment
        if is_it and f"--checkpoint_dir={folder}".encode() in command:
            return int(process.name)
    raise AssertionError(f"no task {rank}")


def test_two_nodes_learn_as_one_process_does_also_if_a_task_is_killed(slurm, tmp_path):
    alone, folder, log = tmp_path / "alone", tmp_path / "run", tmp_path / "step.log"
    train(tree_lstm.TASK, alone, **CHOSEN)
    step = start(slurm, folder, log)
    has_begun = (1, 8)
    wait_for(
        lambda: any(p >= has_begun for p in positions_in(folder / "last")),
        SOON_S,
        log.read_text,
    )
    os.kill(pid_of_task(folder, rank=1), signal.SIGKILL)
    killed = time.monotonic()
    assert step.wait(SOON_S) != 0, log.read_text()
    print(f"figure: Slurm, killed task: {time.monotonic() - killed:.0f} s")  # noqa: T201
    assert "task 1: Killed" in log.read_text()
    assert positions_in(folder / "last")[0] < (CHOSEN["epochs"], 0)
    assert start(slurm, folder, log).wait(SOON_S) == 0, log.read_text()
    close(figures(folder), figures(alone))
