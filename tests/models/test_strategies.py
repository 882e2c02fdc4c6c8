"""Scripts train with each strategy as they do alone, also if a process is killed."""

import random
import re
import time

import pytest
import tensorflow as tf

from models import tree_lstm
from recursive_tf.distribute.local_cluster import tf_config
from recursive_tf.training import RunFolder, record
from tests.helpers.programs import addresses
from tests.models.processes import close, kill, wait_for, wait_for_step
from tests.models.scripts import SMALL, figures, run, start, train

pytestmark = pytest.mark.slow

EPOCHS = 4
# The last batch has five.
CHOSEN = SMALL | {"epochs": EPOCHS, "limit_trees": 205, "checkpoint_every": 4}
PATIENCE_S = 90.0
SOON_S = 30.0


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "alone"
    train(tree_lstm.TASK, folder, **CHOSEN)
    return figures(folder)


def wait_for_epoch(folder, number, program):
    wait_for(lambda: len(record.read(RunFolder(folder).metrics)) >= number, program)


@pytest.mark.large
def test_a_run_goes_on_with_several_devices(alone, tmp_path):
    train(tree_lstm.TASK, tmp_path, **(CHOSEN | {"epochs": EPOCHS - 1}))
    start(tmp_path, CHOSEN, "--resume", "--strategy=mirrored").finish(PATIENCE_S)
    close(figures(tmp_path), alone)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """What two workers find that nobody disturbs."""
    folder = tmp_path_factory.mktemp("together")
    start(folder, CHOSEN, "--strategy=multi_worker").finish(PATIENCE_S)
    return figures(folder)


def test_workers_learn_as_one_does(alone, together):
    close(together, alone)


@pytest.mark.large
def test_killing_a_worker_within_an_epoch_changes_nothing(together, tmp_path):
    number = random.randrange(2)  # The chief is one of them.
    program = start(tmp_path, CHOSEN, "--strategy=multi_worker")
    wait_for_step(tmp_path, (1, 8), program)
    kill(program, ("worker", number))
    said = program.finish(PATIENCE_S)
    assert f"worker:{number} ended with SIGKILL" in said
    assert figures(tmp_path) == together
    assert (RunFolder(tmp_path).logs / "worker-1.log").exists()
    assert '"checkpoint"' in said.splitlines()[-1]


def test_a_run_goes_on_from_a_step_with_other_workers(alone, tmp_path):
    program = start(tmp_path, CHOSEN, "--strategy=multi_worker", "--max_restarts=0")
    wait_for_step(tmp_path, (1, 8), program)
    program.kill()
    train(tree_lstm.TASK, tmp_path, **CHOSEN, resume=True, strategy="none")
    close(figures(tmp_path), alone)


@pytest.mark.large
def test_a_parameter_servers_worker_learns_as_one_does(alone, tmp_path):
    flags = ["--strategy=parameter_server", "--num_workers=1"]
    program = start(tmp_path, CHOSEN, *flags)
    wait_for_step(tmp_path, (1, 8), program)
    kill(program, ("chief", 0))
    program.finish(PATIENCE_S)
    close(figures(tmp_path), alone)


def steps_taken(folder, epoch):
    """Returns what the optimizer has counted, the first of its variables."""
    reader = tf.train.load_checkpoint(str(RunFolder(folder).last / f"ckpt-{epoch}"))
    return int(reader.get_tensor("optimizer/0/.ATTRIBUTES/VARIABLE_VALUE"))


@pytest.mark.large
def test_workers_that_do_not_wait_lose_no_losses_and_count_all_steps(tmp_path):
    frozen = {"learning_rate": 0.0, "embedding_rate": 0.0}
    chosen = SMALL | frozen | {"epochs": 1, "limit_trees": 300, "batch_size": 3}
    train(tree_lstm.TASK, tmp_path / "alone", **chosen)
    (tmp_path / "two").mkdir()
    two = ["--strategy=parameter_server", "--num_workers=2"]
    start(tmp_path / "two", chosen, *two).finish(PATIENCE_S)
    [alone], [found] = figures(tmp_path / "alone"), figures(tmp_path / "two")
    assert found == pytest.approx(alone, rel=1e-5)
    assert steps_taken(tmp_path / "two", 1) == 100


def in_cluster(folder, number, workers):
    return start(
        folder,
        CHOSEN,
        "--strategy=multi_worker",
        "--restartable",
        log=f"worker-{number}.log",
        environment=tf_config({"worker": workers}, "worker", number),
    )


def test_a_worker_that_loses_another_says_so(tmp_path):
    workers = addresses(2)
    chief, other = (in_cluster(tmp_path, i, workers) for i in range(2))
    wait_for_epoch(tmp_path, 1, chief)
    other.kill()
    lost = time.monotonic()
    said = chief.finish(PATIENCE_S, code=1)
    # The chief says what it sees first: TensorFlow's error, or a connection that ends.
    by_tensorflow = "worker:0 has lost worker:1, which has ended"
    by_connection = "worker:1 has ended before its work was done"
    assert by_tensorflow in said or by_connection in said
    assert time.monotonic() - lost < SOON_S


def enter_cluster(monkeypatch, workers):
    """Makes this process the first worker of a cluster."""
    for name, value in tf_config({"worker": workers}, "worker", 0).items():
        monkeypatch.setenv(name, value)


def test_a_worker_that_does_not_come_is_named_in_time(monkeypatch, tmp_path):
    workers = addresses(2)
    enter_cluster(monkeypatch, workers)
    missing = re.escape(f"Waited in vain for worker:1 ({workers[1]})")
    with pytest.raises(SystemExit, match=missing):
        run(
            tree_lstm.TASK,
            strategy="multi_worker",
            checkpoint_dir=str(tmp_path),
            cluster_timeout_s=1.0,
        )
    assert not RunFolder(tmp_path).settings.exists()


def test_a_cluster_needs_a_folder(monkeypatch):
    enter_cluster(monkeypatch, ["a:1", "b:1"])
    with pytest.raises(SystemExit, match="--checkpoint_dir"):
        run(tree_lstm.TASK, strategy="multi_worker")


def test_workers_alone_have_no_parameter_server(monkeypatch, tmp_path):
    enter_cluster(monkeypatch, addresses(2))
    message = "needs chief and ps in the cluster, which has worker"
    with pytest.raises(SystemExit, match=message):
        run(
            tree_lstm.TASK,
            strategy="parameter_server",
            checkpoint_dir=str(tmp_path),
        )
