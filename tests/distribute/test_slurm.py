"""Tasks of a Slurm step are the workers of a cluster, in the order of their ranks."""

import os

import pytest

from recursive_tf.distribute import ClusterError, cluster_resolver

# What the real one prints for the nodes below.
SCONTROL = """#!/bin/sh
test "$*" = "show hostnames trees[9-10]" && printf 'trees9\\ntrees10\\n'
"""


@pytest.fixture
def step(tmp_path, monkeypatch):
    """Returns what makes this process a task of a step of two nodes."""
    command = tmp_path / "scontrol"
    command.write_text(SCONTROL)
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("TF_CONFIG", raising=False)

    def enter(rank, node, task, tasks="2,1", nodes="trees[9-10]"):
        found = {
            "SLURM_JOB_ID": "1207",
            "SLURM_STEP_NUM_TASKS": "3",
            "SLURM_STEP_TASKS_PER_NODE": tasks,
            "SLURM_STEP_NODELIST": nodes,
            "SLURM_PROCID": str(rank),
            "SLURM_NODEID": str(node),
            "SLURM_LOCALID": str(task),
        }
        for name, value in found.items():
            monkeypatch.setenv(name, value)

    return enter


@pytest.mark.parametrize("place", [(0, 0, 0), (1, 0, 1), (2, 1, 0)])
def test_nodes_are_filled_in_slurms_order(step, place):
    step(*place)
    found = cluster_resolver()
    addresses = ["trees9:20700", "trees9:20701", "trees10:20700"]
    assert found.cluster_spec().as_dict() == {"worker": addresses}
    assert (found.task_type, found.task_id) == ("worker", place[0])


def test_nodes_with_equally_many_tasks(step):
    step(2, 1, 0, tasks="2(x2)")
    [addresses] = cluster_resolver().cluster_spec().as_dict().values()
    assert addresses[2:] == ["trees10:20700", "trees10:20701"]


def test_tasks_in_another_order_are_refused(step):
    step(1, 1, 0)
    with pytest.raises(ClusterError, match="--distribution=block"):
        cluster_resolver()


def test_nodes_that_scontrol_does_not_know_are_named(step):
    step(0, 0, 0, nodes="rocks[1-2]")
    with pytest.raises(ClusterError, match=r"scontrol show hostnames rocks\[1-2\]"):
        cluster_resolver()


def test_one_task_alone_is_no_cluster(step, monkeypatch):
    step(0, 0, 0)
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "1")
    assert cluster_resolver() is None
