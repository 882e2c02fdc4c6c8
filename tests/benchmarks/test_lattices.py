"""Lattices are the same for every system: batches, and the order of their nodes."""

import numpy as np
import pytest

from benchmarks.ed_batch.peers import ours
from benchmarks.ed_batch.peers.making import WORKS, make
from benchmarks.works import work as works
from benchmarks.works.lattices import Lattices

OVER_LATTICES = [n for n in WORKS if WORKS[n].RECURSION.inputs is Lattices]
# Of a character; and of three, of which the first two are a word.
LATTICES = Lattices(
    tokens=np.array([-1, 5, -1, 6, 9, 7, 8], np.int32),
    is_word=np.array([0, 0, 0, 0, 1, 0, 0], np.int32),
    children=np.array([0, 0, 0, 1, 2, 3], np.int32),
    counts=np.array([0, 1, 0, 1, 1, 2, 1], np.int32),
    sizes=np.array([2, 5], np.int32),
)
FILE = """1
3
0 1 2
0
1 0 6
2 1 7 0 9
"""


def test_a_batch_has_its_lattices_one_after_the_other():
    batch = LATTICES.batch(np.array([1, 0, 1]))
    assert batch.sizes.tolist() == [5, 2, 5]
    assert batch.roots.tolist() == [4, 6, 11]
    assert batch.tokens.tolist() == [-1, 6, 9, 7, 8, -1, 5, -1, 6, 9, 7, 8]
    assert batch.is_word.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert batch.children.tolist() == [0, 0, 1, 2, 3, 5, 7, 7, 8, 9, 10]


def test_ours_gets_the_lattices_of_a_batch():
    forest = ours.lattices_of(LATTICES.batch(np.array([0, 1])))
    forest.validate(dag=True)
    lists = forest.children.to_list()
    assert lists == [[], [0], [], [2], [2], [3, 4], [5]]
    assert forest.features["is_word"].numpy().tolist() == LATTICES.is_word.tolist()


def test_children_stand_before_their_parents():
    lattices = make("lattice_gru", None, units=2, count=8).trees
    batch = lattices.batch(np.arange(8))
    parents = np.repeat(np.arange(len(batch.counts)), batch.counts)
    assert np.all(batch.children < parents)
    # The first child is a position, and the only one of a word; so is the last node.
    first_links = np.unique(parents, return_index=True)[1]
    assert not batch.is_word[batch.children[first_links]].any()
    assert np.all(batch.counts[batch.is_word == 1] == 1)
    assert not batch.is_word[batch.roots].any()


def test_lattices_of_a_folder_are_read(tmp_path):
    (tmp_path / "lattice").mkdir()
    (tmp_path / "lattice" / "train.txt").write_text(FILE)
    lattices = make("lattice_lstm", str(tmp_path), units=2, count=3).trees
    assert len(lattices) == 1
    assert lattices.tokens.tolist() == [-1, 6, 9, 7]
    assert lattices.is_word.tolist() == [0, 0, 1, 0]
    assert lattices.children.tolist() == [0, 0, 1, 2]
    assert lattices.counts.tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("name", OVER_LATTICES)
def test_a_work_of_lattices_is_read_as_it_was_written(name, tmp_path):
    work = make(name, None, units=3, count=5)
    work.save(tmp_path / "work.npz")
    read = works.load(tmp_path / "work.npz")
    assert read.recursion == work.recursion
    np.testing.assert_array_equal(read.trees.children, work.trees.children)
    assert list(read.weights) == list(work.weights)
    for key, value in work.weights.items():
        np.testing.assert_array_equal(read.weights[key], value)


def test_characters_and_words_have_vectors_of_one_size():
    weights = make("lattice_lstm", None, units=8, count=1).weights
    spreads = [weights[name].std() for name in works.TABLES]
    assert spreads == pytest.approx([0.3, 0.3], rel=0.01)
