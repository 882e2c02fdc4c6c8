"""Second derivatives of a TreeLSTM: what the same cell gives, called by Python."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close

pytestmark = pytest.mark.every_executor

VOCABULARY, EMBEDDING, HIDDEN = 5, 3, 4
# ((0 1) (2 (1 3))) and a leaf: words of leaves, and children. Words come repeatedly.
TOKENS = [0, 1, 2, 1, 3, -1, -1, -1, -1, 0]
LEFT = [-1, -1, -1, -1, -1, 0, 3, 2, 5, -1]
RIGHT = [-1, -1, -1, -1, -1, 1, 4, 6, 7, -1]
ROOTS = [8, 9]


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(0)
    shapes = {
        "embedding": [VOCABULARY, EMBEDDING],
        "leaf": [EMBEDDING, 3 * HIDDEN],
        "internal": [2 * HIDDEN, 5 * HIDDEN],
        "bias": [5 * HIDDEN],
    }
    return {name: tf.Variable(rng.normal(size=s) / 2) for name, s in shapes.items()}


@pytest.fixture(scope="module")
def directions(weights):
    rng = np.random.default_rng(1)
    return {name: tf.constant(rng.normal(size=w.shape)) for name, w in weights.items()}


def leaf_state(weights, token):
    x = tf.gather(weights["embedding"], token)
    i, o, u = tf.split(tf.linalg.matvec(weights["leaf"], x, transpose_a=True), 3)
    c = tf.sigmoid(i) * tf.tanh(u)
    return tf.sigmoid(o) * tf.tanh(c), c


def internal_state(weights, left, right):
    row = tf.concat([left[0], right[0]], 0)[tf.newaxis, :]
    gates = tf.matmul(row, weights["internal"])[0] + weights["bias"]
    i, fl, fr, o, u = tf.split(gates, 5)
    c = tf.sigmoid(i) * tf.tanh(u)
    c += tf.sigmoid(fl) * left[1] + tf.sigmoid(fr) * right[1]
    return tf.sigmoid(o) * tf.tanh(c), c


def by_recursion(weights):
    """Returns h of the roots, and of all nodes, by a SubGraph."""
    with rtf.SubGraph("tree_lstm") as tree_lstm:
        node = tree_lstm.input(tf.int32)
        left, right = tf.gather(LEFT, node), tf.gather(RIGHT, node)
        h, c = tf.cond(
            left < 0,
            lambda: leaf_state(weights, tf.gather(TOKENS, node)),
            lambda: internal_state(weights, tree_lstm(left), tree_lstm(right)),
        )
        tree_lstm.push("h", h, index=node, size=len(LEFT))
        tree_lstm.output(h, c)
    (h, _), pushed = tree_lstm.map(ROOTS, with_pushed=True)
    return h, pushed["h"]


def by_python(weights):
    """The same, node by node."""
    states = []
    for token, left, right in zip(TOKENS, LEFT, RIGHT, strict=True):
        if left < 0:
            states.append(leaf_state(weights, token))
        else:
            states.append(internal_state(weights, states[left], states[right]))
    h = tf.stack([state[0] for state in states])
    return tf.gather(h, ROOTS), h


def loss_of(run, weights):
    roots, nodes = run(weights)
    return tf.reduce_sum(tf.sin(3.0 * roots)) + tf.reduce_sum(nodes**3)


def first(run, weights):
    with tf.GradientTape() as tape:
        loss = loss_of(run, weights)
    gradients = tape.gradient(loss, weights)
    return {name: tf.convert_to_tensor(g) for name, g in gradients.items()}


def hessian_vector_product(run, weights, directions):
    with tf.GradientTape() as tape:
        gradients = first(run, weights)
        along = sum(tf.reduce_sum(gradients[n] * v) for n, v in directions.items())
    return tape.gradient(along, weights)


def penalized(run, weights):
    """Returns the gradients of a loss with the norm of its gradient by the words."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = loss_of(run, weights)
        slopes = inner.gradient(loss, weights["embedding"])
        total = loss + 0.1 * tf.norm(tf.convert_to_tensor(slopes))
    return outer.gradient(total, weights)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    assert_all_close(found, expected, rtol=1e-9, atol=1e-11)


def test_a_hessian_vector_product_is_that_of_the_unrolled_tree(weights, directions):
    found = tf.function(hessian_vector_product)(by_recursion, weights, directions)
    assert_same(found, hessian_vector_product(by_python, weights, directions))


def test_a_hessian_vector_product_is_what_finite_differences_say(weights, directions):
    step = 1e-5

    @tf.function
    def moved(size):
        there = {n: w + size * directions[n] for n, w in weights.items()}
        with tf.GradientTape() as tape:
            tape.watch(there)
            loss = loss_of(by_recursion, there)
        return tape.gradient(loss, there)

    above, below = moved(tf.constant(step, tf.float64)), moved(-step)
    found = tf.function(hessian_vector_product)(by_recursion, weights, directions)
    for name, gradient in found.items():
        difference = tf.convert_to_tensor(above[name]) - below[name]
        np.testing.assert_allclose(
            tf.convert_to_tensor(gradient),
            difference / (2 * step),
            rtol=1e-5,
            atol=1e-7,
        )


def test_a_penalty_on_a_gradient_trains_as_that_of_the_unrolled_tree(weights):
    found = tf.function(penalized)(by_recursion, weights)
    assert_same(found, penalized(by_python, weights))


def test_a_subgraph_that_is_called_eagerly_gives_the_same(weights, directions):
    found = hessian_vector_product(by_recursion, weights, directions)
    assert_same(found, hessian_vector_product(by_python, weights, directions))


ROOT_OPS = {"dataflow": "RecursiveInvoke", "auto": "RecursiveInvokeBatched"}


def test_all_of_it_runs_in_the_executor_of_the_call(weights, directions):
    executor = rtf.SubGraph.__init__.__kwdefaults__["executor"]
    run = tf.function(lambda: hessian_vector_product(by_recursion, weights, directions))
    ops = run.get_concrete_function().graph.get_operations()
    roots = [op.type for op in ops if op.type in ROOT_OPS.values()]
    assert roots == [ROOT_OPS[executor]] * 2
