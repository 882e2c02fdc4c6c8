"""examples/beam_search.py: it finds what a loop finds."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

LOG_PROBS = tf.nn.log_softmax(tf.random.Generator.from_seed(0).normal([5, 5]))


def score_of(words):
    return sum(LOG_PROBS.numpy()[pair] for pair in itertools.pairwise(words))


def plain_search(first, beam, length):
    """Returns the best of the sentences that a beam keeps."""
    kept = [[first]]
    for _ in range(length - 1):
        longer = [[*words, word] for words in kept for word in range(5)]
        kept = sorted(longer, key=score_of, reverse=True)[:beam]
    return kept[0]


@pytest.mark.every_executor
@pytest.mark.parametrize("beam", [1, 3])
def test_it_finds_what_a_loop_finds(example, beam):
    words, scores = example.beam_search(LOG_PROBS, tf.range(5), beam=beam, length=6)
    expected = [plain_search(first, beam, 6) for first in range(5)]
    assert words.numpy().tolist() == expected
    np.testing.assert_allclose(scores, list(map(score_of, expected)), rtol=1e-5)


@pytest.mark.every_executor
def test_a_beam_that_keeps_all_finds_the_best(example):
    words, _ = example.beam_search(LOG_PROBS, tf.constant([2]), beam=64, length=4)
    best = max(itertools.product([2], *[range(5)] * 3), key=score_of)
    assert tuple(words[0].numpy()) == best


def test_it_runs_where_the_table_says(example, executor_in_table):
    search = example.define(LOG_PROBS, starts=2, length=4)
    subgraph = search.subgraph_for(tf.zeros([3], tf.int32), tf.zeros([3]), 0, 0)
    assert rtf.explain(subgraph).executor == executor_in_table
