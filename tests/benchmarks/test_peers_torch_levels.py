"""Batches that stand in levels: rows, slots, and what the loss is summed up of."""

import dataclasses

import numpy as np
import pytest

from benchmarks.peers.torch_levels import Levels, Treebank
from benchmarks.works.trees import Trees
from tests.helpers.works import VOCABULARY, random_trees

CHOSEN = np.array([7, 3, 3, 11, 0])


@pytest.fixture
def trees() -> Trees:
    return random_trees(12, 9)


def levels(trees: Trees, loss_at: str = "nodes") -> Levels:
    return Treebank(trees, VOCABULARY, loss_at).batch(CHOSEN)


def test_each_word_of_a_batch_has_one_row(trees: Trees) -> None:
    batch = trees.batch(CHOSEN)
    words = levels(trees).words
    assert sorted(words) == sorted(set(batch.word[batch.left < 0]))


def test_children_are_below_their_level(trees: Trees) -> None:
    batch = levels(trees)
    first = row = len(batch.words)
    for size in batch.sizes:
        children = batch.children[2 * (row - first) : 2 * (row - first + size)]
        assert children.max() < row
        row += size
    assert row == batch.rows


def test_every_slot_is_of_one_node(trees: Trees) -> None:
    batch = levels(trees)
    slots = np.concatenate([batch.slots, batch.leaf_slots])
    assert sorted(slots) == list(range(len(CHOSEN) + 2 * batch.inner))


def test_a_slot_of_a_parent_is_that_of_the_row_it_has_as_child(trees: Trees) -> None:
    batch = levels(trees)
    uses = np.diff(batch.leaf_starts, append=len(batch.leaf_slots))
    of_slot = np.empty(len(CHOSEN) + 2 * batch.inner, np.int64)
    of_slot[batch.leaf_slots] = np.repeat(np.arange(len(batch.words)), uses)
    of_slot[batch.slots] = len(batch.words) + np.arange(batch.inner)
    assert of_slot.tolist() == [*batch.roots, *batch.children]


@pytest.mark.parametrize("loss_at", ["nodes", "roots"])
def test_weights_count_each_label_once(trees: Trees, loss_at: str) -> None:
    batch = trees.batch(CHOSEN)
    labels = batch.label if loss_at == "nodes" else batch.label[batch.roots]
    counts = -len(CHOSEN) * levels(trees, loss_at).weights.sum(0)
    np.testing.assert_allclose(counts, np.bincount(labels, minlength=5), rtol=1e-5)


def test_nodes_without_a_label_have_no_weight(trees: Trees) -> None:
    label = np.full_like(trees.label, -1)
    label[trees.starts[7]] = 2
    weights = levels(dataclasses.replace(trees, label=label)).weights
    assert weights.sum() == np.float32(-1 / len(CHOSEN))
