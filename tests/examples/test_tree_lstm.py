"""examples/tree_lstm.py: every node has the state that the cell gives."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

WORDS = 11


@pytest.fixture
def trees():
    return rtf.data.generate("random", 3, words=range(1, 6), vocabulary=WORDS)


@pytest.fixture
def cell(example):
    tf.keras.utils.set_random_seed(0)
    return example.TreeLSTMCell(WORDS, embedding_size=3, hidden=4)


def states_by_hand(forest, cell):
    """Returns `h` of every node, one node after the other, eagerly."""
    states = []
    for node in range(int(forest.num_nodes)):
        left, right = forest.left[node], forest.right[node]
        states.append(
            cell.leaf(cell.embed(forest.tokens[node]))
            if left < 0
            else cell(states[left], states[right])
        )
    return np.stack([state.h for state in states])


@pytest.mark.every_executor
def test_every_node_has_the_state_that_the_cell_gives(example, trees, cell):
    roots, h = tf.function(example.encode)(trees, cell)
    np.testing.assert_allclose(h, states_by_hand(trees, cell), rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(roots.h, tf.gather(h, trees.roots))
