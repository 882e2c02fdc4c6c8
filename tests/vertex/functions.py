"""Vertex functions, not decorated, and graphs for them."""

import numpy as np
import tensorflow as tf

SIZE = 3
PAIR = (tf.TensorSpec([SIZE]), tf.TensorSpec([SIZE]))
# ((0 1) 2) and a word of its own; children have larger numbers, or smaller ones.
TREES = [[-1, -1], [-1, -1], [-1, -1], [0, 1], [3, 2], [-1, -1]]


class Weights:
    """Variables of a cell for `slots` in-neighbors and an input of SIZE."""

    def __init__(self, slots, seed=0, dtype=tf.float32):
        random = np.random.default_rng(seed)
        shape = [(slots + 1) * SIZE, (3 + slots) * SIZE]
        self.matrix = tf.Variable(0.5 * random.normal(size=shape), dtype=dtype)
        self.bias = tf.Variable(0.1 * random.normal(size=shape[1:]), dtype=dtype)

    @property
    def variables(self):
        return [self.matrix, self.bias]


def n_ary(weights, slots):
    """Returns the function of an N-ary TreeLSTM (Tai et al. 2015)."""

    def tree_lstm(v):
        below = [v.gather(i) for i in range(slots)]
        parts = tf.concat([*(h for h, _ in below), v.pull()], 0)
        z = tf.linalg.matvec(weights.matrix, parts, transpose_a=True) + weights.bias
        i, o, u, *forget = tf.split(z, 3 + slots)
        c = tf.sigmoid(i) * tf.tanh(u)
        for f, (_, child) in zip(forget, below, strict=True):
            c += tf.sigmoid(f) * child
        h = tf.sigmoid(o) * tf.tanh(c)
        v.scatter((h, c))
        v.push(h)

    return tree_lstm


def child_sum(weights):
    """Returns a function of any number of in-neighbors, like a Child-Sum TreeLSTM."""

    def over_all(v):
        h, c = v.gather()
        parts = tf.concat([tf.reduce_sum(h, 0), v.pull()], 0)
        z = tf.linalg.matvec(weights.matrix, parts, transpose_a=True) + weights.bias
        i, o, u, f = tf.split(z, 4)
        c = tf.sigmoid(i) * tf.tanh(u) + tf.reduce_sum(tf.sigmoid(f + h) * c, 0)
        h = tf.sigmoid(o) * tf.tanh(c)
        v.scatter((h, c))
        v.push(h)

    return over_all


def rows(count, seed=1, dtype=tf.float32):
    """Returns what vertices pull."""
    random = np.random.default_rng(seed)
    return tf.constant(random.normal(size=[count, SIZE]), dtype)


def ragged(lists):
    """Returns in-neighbors as a ragged tensor, without those that are none."""
    there = [[n for n in each if n >= 0] for each in lists]
    return tf.ragged.constant(there, ragged_rank=1, dtype=tf.int32)


def random_dag(seed, size=20, most=3):
    """Returns lists of in-neighbors whose numbers are in no order."""
    random = np.random.default_rng(seed)
    place = random.permutation(size)
    lists = [[] for _ in range(size)]
    for i in range(size):
        count = random.integers(0, min(i, most) + 1)
        found = random.choice(i, size=count, replace=False) if count else []
        lists[place[i]] = [int(place[j]) for j in found]
    return lists


def matrix(lists, width=None):
    """Returns in-neighbors as a matrix, with -1 for none."""
    width = max(map(len, lists), default=0) if width is None else width
    return np.array([each + [-1] * (width - len(each)) for each in lists], np.int32)
