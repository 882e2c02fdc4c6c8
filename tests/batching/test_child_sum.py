"""Child-Sum TreeLSTM (Tai et al. 2015, equations 2 to 8) in lock step.

A node has any number of children. The oracle is the cell in plain TensorFlow, called
for one node after the other.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers import equations
from tests.helpers.derivatives import squares_of
from tests.helpers.values import as_numpy

SIZE = 3


class Cell:
    """The weights, what a node does with its children, and a tree to do it with."""

    def __init__(self, num_nodes, seed=0):
        random = np.random.default_rng(seed)

        def weights(*shape):
            return tf.Variable(0.5 * random.normal(size=shape), dtype=tf.float64)

        self.words_iou = weights(num_nodes, 3 * SIZE)
        self.words_f = weights(num_nodes, SIZE)
        self.u_iou = weights(SIZE, 3 * SIZE)
        self.u_f = weights(SIZE, SIZE)
        self.variables = [self.words_iou, self.words_f, self.u_iou, self.u_f]

    def __call__(self, node, h, c):
        h_sum = tf.reduce_sum(h, 0)
        recurrent = tf.linalg.matvec(self.u_iou, h_sum, transpose_a=True)
        i, o, u = tf.split(tf.gather(self.words_iou, node) + recurrent, 3)
        f = tf.sigmoid(tf.gather(self.words_f, node) + tf.matmul(h, self.u_f))
        c = tf.sigmoid(i) * tf.tanh(u) + tf.reduce_sum(f * c, 0)
        return tf.sigmoid(o) * tf.tanh(c), c


def define(cell, children, executor, policy="critical_path"):
    """Returns the recursion over all nodes, which pushes the state of each."""
    ragged = tf.ragged.constant(children, dtype=tf.int32, ragged_rank=1)
    state = tf.TensorSpec([SIZE], tf.float64)
    encode = rtf.SubGraph(
        "encode",
        executor=executor,
        output_signature=(state, state),
        options=rtf.Options(policy=policy),
    )
    with encode:
        node = encode.input(tf.int32)
        h, c = cell(node, *encode.map(tf.gather(ragged, node)))
        encode.push("h", h, index=node, size=len(children))
        encode.output(h, c)
    return encode


def by_library(children, roots, executor, policy="critical_path", cell=None):
    cell = cell or Cell(len(children))
    encode = define(cell, children, executor, policy)
    with tf.GradientTape() as tape:
        (h, c), pushed = encode.map(tf.constant(roots), with_pushed=True)
        loss = tf.reduce_sum(h * c) + tf.reduce_sum(tf.sin(pushed["h"]))
    return [h, c, pushed["h"], *gradients_of(tape, loss, cell)]


def by_hand(children, roots, cell=None):
    cell = cell or Cell(len(children))
    none = tf.zeros([0, SIZE], tf.float64)
    states = {}

    def visit(node):
        below = [visit(child) for child in children[node]]
        h, c = (
            (tf.stack(x) for x in zip(*below, strict=True)) if below else (none, none)
        )
        states[node] = cell(node, h, c)
        return states[node]

    with tf.GradientTape() as tape:
        h, c = (tf.stack(x) for x in zip(*map(visit, roots), strict=True))
        zeros = tf.zeros([SIZE], tf.float64)
        pushed = [states[n][0] if n in states else zeros for n in range(len(children))]
        loss = tf.reduce_sum(h * c) + tf.reduce_sum(tf.sin(tf.stack(pushed)))
    return [h, c, tf.stack(pushed), *gradients_of(tape, loss, cell)]


def gradients_of(tape, loss, cell):
    return [tf.convert_to_tensor(g) for g in tape.gradient(loss, cell.variables)]


def some_forest(num_trees, num_nodes, seed):
    """Returns the children of every node, which stand before it, and the roots."""
    random = np.random.default_rng(seed)
    children, roots = [], []
    for _ in range(num_trees):
        first = len(children)
        own = [[] for _ in range(random.integers(1, num_nodes))]
        for node in range(len(own) - 1):
            own[random.integers(node + 1, len(own))].append(first + node)
        children += own
        roots.append(len(children) - 1)
    return children, roots


FORESTS = {
    "one leaf": ([[]], [0]),
    "leaves": ([[], [], []], [2, 0, 1]),
    "one node": ([[], [], [], [2, 0, 1]], [3]),
    "a chain": ([[], [0], [1], [2], [3]], [4]),
    "a chain beside a leaf": ([[], [0], [1], []], [2, 3]),
    "a tree": some_forest(1, 20, seed=1),
    "a forest": some_forest(6, 12, seed=2),
    "nobody": ([[], [0]], []),
}


@pytest.mark.parametrize("policy", ["critical_path", "agenda", "depth"])
@pytest.mark.parametrize("forest", FORESTS.values(), ids=FORESTS)
def test_a_forest_is_as_by_hand(forest, policy):
    children, roots = forest
    if not roots:
        found = by_library(children, np.zeros([0], np.int32), "batched", policy)
        assert found[0].shape == (0, SIZE)
        assert all(not np.any(x) for x in as_numpy(found[1:]))
        return
    expected = as_numpy(by_hand(children, roots))
    for executor in ("batched", "dataflow"):
        found = as_numpy(by_library(children, roots, executor, policy))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_gradients_of_gradients(executor):
    children, roots = FORESTS["a forest"]
    expected = second_gradients(by_hand, children, roots)
    found = second_gradients(by_library, children, roots, executor)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def second_gradients(compute, *arguments):
    """Returns the gradients, by all weights, of the squares of all gradients."""
    cell = Cell(len(arguments[0]))
    with tf.GradientTape() as tape:
        _, _, _, *gradients = compute(*arguments, cell=cell)
        total = squares_of(gradients)
    return as_numpy(gradients_of(tape, total, cell))


def test_all_children_of_all_nodes_are_taken_together():
    children, roots = some_forest(20, 30, seed=3)
    encode = define(Cell(len(children)), children, "batched")
    heights = []
    for below in children:
        heights.append(1 + max((heights[child] for child in below), default=0))
    explanation = rtf.explain(encode)
    encode.map(tf.constant(roots))
    run = explanation.forward
    # Every level of the trees is looked at, and then computed, once.
    assert list(run.launches) == [max(heights), max(heights)]
    assert run.least_launches == 2 * max(heights)
    assert "calls encode for each item" in str(explanation)


def test_a_chain_is_as_long_as_memory():
    length = 10_000
    children = [[], *([node] for node in range(length - 1))]
    cell = Cell(length)
    encode = define(cell, children, "batched")
    with tf.GradientTape() as tape:
        h, c = encode(length - 1)
        loss = tf.reduce_sum(h * c)
    (gradient,) = tape.gradient(loss, [cell.u_f])
    h_by_hand, c_by_hand, slope = chain_by_hand(cell, length)
    np.testing.assert_allclose(h, h_by_hand, rtol=1e-9)
    np.testing.assert_allclose(c, c_by_hand, rtol=1e-9)
    np.testing.assert_allclose(tf.reduce_sum(gradient), slope, rtol=1e-5)


def chain_by_hand(cell, length):
    """Returns the last state, and how its loss changes when all of `u_f` grows."""
    words_iou, words_f, u_iou, u_f = as_numpy([v.read_value() for v in cell.variables])
    words = np.concatenate([words_iou, words_f], 1)

    def last(u_f):
        kernel = np.concatenate([u_iou, u_f], 1)
        h = c = np.zeros([SIZE])
        for word in words:  # Of one child each: the LSTM of a sequence.
            h, c = equations.LSTM(kernel, word, "iouf")([h], c)
        return h, c

    step = 1e-6
    more, less = (np.sum(np.prod(last(u_f + d), axis=0)) for d in (step, -step))
    return *last(u_f), (more - less) / (2 * step)
