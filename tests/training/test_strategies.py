"""A run with several replicas learns as one process does, and goes on from a step."""

import signal

import pytest

from recursive_tf.distribute.local_cluster import tf_config
from recursive_tf.training import RunFolder
from recursive_tf.training.checkpoints import positions_in
from tests.helpers.programs import Program, addresses, run_cluster
from tests.models.processes import close
from tests.models.scripts import figures

pytestmark = pytest.mark.slow

MODULE = "tests.training.run_program"
PATIENCE_S = 120.0
WORKERS = {"worker": 2}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    arguments = [folder / "run", "none"]
    Program(MODULE, arguments, folder / "log").finish(PATIENCE_S)
    return figures(folder / "run")


def test_devices_learn_as_one_does(alone, tmp_path):
    arguments = [tmp_path / "run", "mirrored"]
    Program(MODULE, arguments, tmp_path / "log").finish(PATIENCE_S)
    close(figures(tmp_path / "run"), alone)


def test_workers_that_were_killed_go_on_and_learn_as_one_does(alone, tmp_path):
    folder = tmp_path / "run"
    arguments = [folder, "multi_worker"]
    with pytest.raises(AssertionError, match=r"worker-\d\.log"):
        run_cluster(MODULE, WORKERS, [*arguments, 1, 3], tmp_path / "first")
    assert positions_in(RunFolder(folder).last)[0] == (1, 2)
    run_cluster(MODULE, WORKERS, arguments, tmp_path / "second")
    close(figures(folder), alone)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The folder of a run with a parameter server, and its processes."""
    folder = tmp_path_factory.mktemp("served")
    arguments = [folder / "run", "parameter_server"]
    jobs = ("chief", "worker", "ps")
    cluster = {job: addresses(1) for job in jobs}
    tasks = [
        Program(MODULE, arguments, folder / job, tf_config(cluster, job, 0))
        for job in jobs
    ]
    yield folder / "run", tasks
    for task in tasks:
        task.kill()


def test_a_worker_of_a_parameter_server_learns_as_one_process_does(alone, served):
    folder, (chief, *_) = served
    chief.finish(PATIENCE_S)
    close(figures(folder), alone)


def test_who_serves_the_chief_ends_when_it_has_left(served):
    for task in served[1]:
        task.finish(PATIENCE_S)


def test_a_killed_process_goes_on_to_the_same_bits(alone, tmp_path):
    folder = tmp_path / "run"
    arguments = [folder, "none"]
    killed = Program(MODULE, [*arguments, 2, 3], tmp_path / "log")
    killed.finish(PATIENCE_S, code=-signal.SIGKILL)
    assert positions_in(RunFolder(folder).last)[0] == (2, 2)
    Program(MODULE, arguments, tmp_path / "log").finish(PATIENCE_S)
    assert figures(folder) == alone
