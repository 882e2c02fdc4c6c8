"""Texts are the same for every system: words, batches, weights."""

import numpy as np
import pytest

from benchmarks.ed_batch import sentences
from benchmarks.ed_batch.peers.making import WORKS, make
from benchmarks.works import work as works
from benchmarks.works.texts import VOCABULARY, Texts

SENTENCES = [[[1, 2, 3], [4]], [[5, 6, 7, 8, 9, 10]], [[4], [4], [7, 7]]]


def test_a_batch_has_its_sentences_one_after_the_other():
    batch = Texts.of(SENTENCES).batch(np.array([2, 0]))
    assert batch.sizes.tolist() == [3, 2]
    assert batch.lengths.tolist() == [1, 1, 2, 3, 1]
    assert batch.characters.tolist() == [4, 4, 7, 7, 1, 2, 3, 4]
    assert sentences.characters_of(batch).to_list() == [SENTENCES[2], SENTENCES[0]]
    assert sentences.words_of(batch).row_lengths().numpy().tolist() == [3, 2]


def test_the_characters_of_a_word_decide_its_number():
    words = Texts.of(SENTENCES).words
    assert words[0] == (1 + 2 * 31 + 3 * 31**2) % VOCABULARY
    assert words[1] == words[3] == words[4] == 4
    # The sixth character has the weight of the first.
    whole = sum(c * 31 ** (i % 5) for i, c in enumerate(SENTENCES[1][0]))
    assert words[2] == whole % VOCABULARY


@pytest.mark.parametrize(
    "name", [name for name in WORKS if WORKS[name].RECURSION.inputs is Texts]
)
def test_a_work_of_texts_is_read_as_it_was_written(name, tmp_path):
    work = make(name, None, units=3, count=5)
    work.save(tmp_path / "work.npz")
    read = works.load(tmp_path / "work.npz")
    assert read.recursion == work.recursion
    np.testing.assert_array_equal(read.trees.words, work.trees.words)
    assert list(read.weights) == list(work.weights)
    for key, value in work.weights.items():
        np.testing.assert_array_equal(read.weights[key], value)
