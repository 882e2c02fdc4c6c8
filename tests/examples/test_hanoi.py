"""examples/hanoi.py: the moves are legal, and all disks arrive."""

import pytest

import recursive_tf as rtf


@pytest.mark.every_executor
@pytest.mark.parametrize("num_disks", [1, 2, 5])
def test_no_disk_is_put_on_a_smaller_one_and_all_arrive(example, num_disks):
    pegs = [list(range(num_disks, 0, -1)), [], []]
    moves = example.moves(num_disks).numpy().tolist()
    for source, target in moves:
        disk = pegs[source].pop()
        assert all(disk < below for below in pegs[target])
        pegs[target].append(disk)
    assert pegs == [[], [], list(range(num_disks, 0, -1))]
    assert len(moves) == 2**num_disks - 1


def test_it_runs_where_the_table_says(example, executor_in_table):
    subgraph = example.define(3).subgraph_for(3, 0, 1, 2, 0)
    assert rtf.explain(subgraph).executor == executor_in_table


def test_all_calls_for_as_many_disks_run_at_once(example):
    hanoi = example.define(6)
    explanation = rtf.explain(hanoi.subgraph_for(6, 0, 1, 2, 0))
    assert hanoi(6, 0, 1, 2, 0).numpy() == 63
    assert sum(explanation.launches.values()) == explanation.lower_bound
