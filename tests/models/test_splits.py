"""Splits of generated data have nothing in common, whatever their seeds."""

import dataclasses
import itertools

import pytest

from models import td_tree_lstm, tree_lstm
from models.running.splits import SPLITS, belongs_to

SEEDS = (0, 1)
TASKS = (tree_lstm.TASK, td_tree_lstm.TASK)


def texts(task, split, seed):
    settings = dataclasses.replace(task.generated, seed=seed)
    return {str(tree) for tree in task.read(settings, split).to_nested()}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_what_one_run_learns_from_no_run_is_measured_on(task):
    found = {(s, seed): texts(task, s, seed) for s in SPLITS for seed in SEEDS}
    for (a, seed_a), (b, seed_b) in itertools.combinations(found, 2):
        if a != b:
            assert not found[a, seed_a] & found[b, seed_b]
    for split in SPLITS:  # Seeds do change what is drawn.
        assert found[split, 0] != found[split, 1]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
@pytest.mark.parametrize("split", SPLITS)
def test_a_limit_takes_the_first_of_all_trees(task, split):
    few = dataclasses.replace(task.generated, limit_trees=7)
    more = dataclasses.replace(task.generated, limit_trees=20)
    first = task.read(few, split).to_nested()
    assert len(first) == 7
    assert first == task.read(more, split).to_nested()[:7]


def test_each_text_is_of_one_split():
    numbers = [str(number) for number in range(1000)]
    counts = {s: sum(belongs_to(s, text) for text in numbers) for s in SPLITS}
    assert sum(counts.values()) == len(numbers)
    assert counts["train"] > 4 * max(counts["dev"], counts["test"])
    assert min(counts.values()) > 50
