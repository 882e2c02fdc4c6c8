"""The edges that a model walks along are those of the sentence."""

import numpy as np
import tensorflow as tf

from models.dependency.edges import edges_of, heads_of
from recursive_tf.data import Forest, concat
from tests.models.dependency.sentences import CHILDREN, EDGES, HEADS, sentences


def expected_edges():
    to = np.full([len(CHILDREN), 4], -1)
    for (node, edge), end in EDGES.items():
        to[node, edge] = end
    return to


def test_edges_go_to_the_nearest_dependent_and_then_outwards():
    np.testing.assert_array_equal(edges_of(sentences()).to, expected_edges())


def test_a_word_is_on_the_side_of_its_head_where_it_stands():
    sides = [1, 1, 1, 0, 2, 1, 1, 2, 2, 0]
    np.testing.assert_array_equal(edges_of(sentences()).side, sides)


def test_only_siblings_of_its_own_side_may_come_after_a_word():
    may = edges_of(sentences()).may_exist.numpy()
    assert may[0].tolist() == [True, True, True, False]
    assert may[3].tolist() == [True, True, False, False]
    assert may[8].tolist() == [True, True, False, True]


def test_edges_of_a_batch_are_those_of_its_trees():
    batch = concat([sentences(), sentences()])
    once = expected_edges()
    twice = np.concatenate([once, np.where(once < 0, -1, once + len(CHILDREN))])
    np.testing.assert_array_equal(edges_of(batch).to, twice)


def test_the_order_of_children_in_a_forest_does_not_matter():
    shuffled = [children[::-1] for children in CHILDREN]
    children = tf.ragged.constant(shuffled, dtype=tf.int32)
    forest = sentences().replace(children=children)
    np.testing.assert_array_equal(edges_of(forest).to, expected_edges())


def test_every_word_has_its_head():
    np.testing.assert_array_equal(heads_of(sentences()), HEADS)


def test_words_alone_have_no_edges():
    children = tf.ragged.constant([[], []], dtype=tf.int32)
    forest = Forest(tokens=[3, 4], children=children, roots=[0, 1], sizes=[1, 1])
    edges = edges_of(forest)
    np.testing.assert_array_equal(edges.to, np.full([2, 4], -1))
    np.testing.assert_array_equal(edges.side, [0, 0])
