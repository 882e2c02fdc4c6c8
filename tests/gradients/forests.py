"""Binary trees of any shape, as arrays."""

import random
from typing import NamedTuple

import hypothesis.strategies as st
import numpy as np
import tensorflow as tf

VOCABULARY = 7
CHAIN_LENGTH = 1_000
NUM_TREES = 200


class Forest(NamedTuple):
    """Any number of binary trees; children come before parents, a leaf has none: -1."""

    tokens: np.ndarray
    left: np.ndarray
    right: np.ndarray
    roots: np.ndarray

    @property
    def num_nodes(self):
        return len(self.tokens)


FOREST_SPEC = Forest(*(tf.TensorSpec([None], tf.int32) for _ in Forest._fields))


def grow(num_leaves, choose):
    """Returns the children of each node of a tree.

    Args:
        num_leaves: At least 1.
        choose: From n - 1 pairs of neighbors, which to join; returns its number.
    """
    children = [(-1, -1)] * num_leaves
    tops = list(range(num_leaves))
    while len(tops) > 1:
        k = choose(len(tops) - 1)
        children.append((tops[k], tops[k + 1]))
        tops[k : k + 2] = [len(children) - 1]
    return children


def chain(length):
    """Returns a tree with `length` internal nodes, one below the other."""
    return grow(length + 1, lambda _: 0)


def plant(trees, seed=0):
    """Returns the forest of trees given as children of nodes, with random words."""
    left, right, roots = [], [], []
    for tree in trees:
        start = len(left)
        for a, b in tree:
            left.append(a if a < 0 else a + start)
            right.append(b if b < 0 else b + start)
        roots.append(len(left) - 1)
    tokens = np.random.default_rng(seed).integers(VOCABULARY, size=len(left))
    return Forest(*(np.array(x, np.int32) for x in (tokens, left, right, roots)))


def random_forest(num_trees=NUM_TREES, chain_length=CHAIN_LENGTH):
    """Returns trees: the smallest, a long chain, and random ones in between."""
    rng = random.Random(0)
    trees = [grow(1, None), chain(chain_length), grow(2, rng.randrange)]
    while len(trees) < num_trees:
        trees.append(grow(rng.randint(1, rng.randint(1, 30)), rng.randrange))
    rng.shuffle(trees)
    return plant(trees)


@st.composite
def forests(draw):
    """Up to four trees of up to twelve leaves, of any shape."""
    joins = st.lists(st.integers(0, 10**6), max_size=11)
    trees = []
    for picks in draw(st.lists(joins, min_size=1, max_size=4)):
        pick = iter(picks)
        trees.append(grow(len(picks) + 1, lambda n, pick=pick: next(pick) % n))
    return plant(trees, seed=draw(st.integers(0, 100)))
