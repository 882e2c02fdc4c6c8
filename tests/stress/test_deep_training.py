"""A TreeLSTM trains on a chain of 10^5 levels, and what it kept dies without a trace.

The values and gradients to compare with are NumPy's: a loop forward, and a loop back,
written out by hand.
"""

import gc
import threading

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.equations import sigmoid

pytestmark = pytest.mark.slow

LENGTH = 100_000
WORD, HIDDEN = 2, 3
SMALL_STACK = 256 * 1024  # 10^5 nested destructors need megabytes.


# --- In NumPy


def leaves_forward(words, leaf):
    """Returns h and c of every leaf, and the gates."""
    i, o, u = np.split(words @ leaf, 3, axis=1)
    i, o, u = sigmoid(i), sigmoid(o), np.tanh(u)
    return o * np.tanh(i * u), i * u, (i, o, u)


def leaves_backward(gates, dh, dc):
    """Returns the gradient of `words @ leaf`."""
    i, o, u = gates
    tanh = np.tanh(i * u)
    dc = dc + dh * o * (1 - tanh**2)
    parts = [dc * u * i * (1 - i), dh * tanh * o * (1 - o), dc * i * (1 - u**2)]
    return np.concatenate(parts, axis=1)


def node_forward(row, c_left, c_right, internal, bias):
    """Returns the gates of a node, its c, and its tanh(c)."""
    gates = row @ internal + bias
    i, f_left, f_right, o = sigmoid(gates[: 4 * HIDDEN]).reshape(4, HIDDEN)
    u = np.tanh(gates[4 * HIDDEN :])
    c = i * u + f_left * c_left + f_right * c_right
    return (i, f_left, f_right, o, u), c, np.tanh(c)


def node_backward(gates, tanh, cs, dh, dc):
    """Returns the gradients of the gates' arguments, and of both children's c."""
    i, f_left, f_right, o, u = gates
    dc = dc + dh * o * (1 - tanh**2)
    d_gates = [
        dc * u * i * (1 - i),
        dc * cs[0] * f_left * (1 - f_left),
        dc * cs[1] * f_right * (1 - f_right),
        dh * tanh * o * (1 - o),
        dc * i * (1 - u**2),
    ]
    return np.concatenate(d_gates), dc * f_left, dc * f_right


def by_hand(words, leaf, internal, bias, cotangents):
    """Returns h of the nodes from the lowest up, and the gradients of the weights."""
    leaf_h, leaf_c, leaf_gates = leaves_forward(words, leaf)
    h, c, steps, found = leaf_h[0], leaf_c[0], [], []
    for k in range(1, len(words)):
        row, cs = np.concatenate([leaf_h[k], h]), (leaf_c[k], c)
        gates, c, tanh = node_forward(row, *cs, internal, bias)
        h = gates[3] * tanh
        steps.append((row, cs, gates, tanh))
        found.append(h)

    d_leaf_h, d_leaf_c = np.zeros_like(leaf_h), np.zeros_like(leaf_c)
    rows, all_gates, dh, dc = [], [], np.zeros(HIDDEN), np.zeros(HIDDEN)
    for k in reversed(range(1, len(words))):
        row, cs, gates, tanh = steps[k - 1]
        dh = dh + cotangents[k - 1]
        d_gates, d_leaf_c[k], dc = node_backward(gates, tanh, cs, dh, dc)
        d_leaf_h[k], dh = np.split(internal @ d_gates, 2)
        rows.append(row)
        all_gates.append(d_gates)
    d_leaf_h[0], d_leaf_c[0] = dh, dc
    d_leaves = leaves_backward(leaf_gates, d_leaf_h, d_leaf_c)
    gradients = {
        "words": d_leaves @ leaf.T,
        "leaf": words.T @ d_leaves,
        "internal": np.array(rows).T @ np.array(all_gates),
        "bias": np.sum(all_gates, axis=0),
    }
    return np.array(found), gradients


# --- The recursive program


def define_chain(weights):
    """Returns the SubGraph from n to the state of n nodes, one below the other.

    The left child of each is a leaf, which it calls with a number that is not
    positive. Node n pushes its h to row n - 1.
    """
    # More of both than a cycle by mistake may take.
    options = rtf.Options(max_depth=None, max_bytes=None)
    with rtf.SubGraph("chain", executor="dataflow", options=options) as chain:
        n = chain.input(tf.int32)

        def leaf():
            word = tf.gather(weights["words"], -n)
            gates = tf.linalg.matvec(weights["leaf"], word, transpose_a=True)
            i, o, u = tf.split(gates, 3)
            c = tf.sigmoid(i) * tf.tanh(u)
            return tf.sigmoid(o) * tf.tanh(c), c

        def node():
            (h_left, c_left), (h_right, c_right) = chain(-n), chain(n - 1)
            row = tf.concat([h_left, h_right], 0)
            gates = tf.linalg.matvec(weights["internal"], row, transpose_a=True)
            i, f_left, f_right, o, u = tf.split(gates + weights["bias"], 5)
            c = tf.sigmoid(i) * tf.tanh(u)
            c += tf.sigmoid(f_left) * c_left + tf.sigmoid(f_right) * c_right
            h = tf.sigmoid(o) * tf.tanh(c)
            chain.push("h", h, index=n - 1, size=LENGTH)
            return h, c

        chain.output(*tf.cond(n < 1, leaf, node))
    return chain


def random_weights():
    """Returns weights with which c lasts for 10^5 levels: each adds a little to it."""
    rng = np.random.default_rng(0)
    bias = np.repeat([-11.0, -11.0, 16.0, 0.0, 0.0], HIDDEN)
    return {
        "words": rng.normal(size=[LENGTH + 1, WORD]),
        "leaf": rng.normal(size=[WORD, 3 * HIDDEN]),
        "internal": rng.normal(size=[2 * HIDDEN, 5 * HIDDEN]) / 10,
        "bias": bias,
    }


def drop_in_a_small_stack(held):
    """Drops the last references to what `held` holds in a thread with little stack."""

    def drop():
        held.clear()
        gc.collect()

    before = threading.stack_size(SMALL_STACK)
    try:
        thread = threading.Thread(target=drop)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()


@pytest.fixture(scope="module")
def problem():
    weights = random_weights()
    return weights, np.random.default_rng(1).normal(size=[LENGTH, HIDDEN])


@pytest.fixture(scope="module")
def expected(problem):
    weights, cotangents = problem
    return by_hand(**weights, cotangents=cotangents)


@pytest.fixture(scope="module")
def found(problem):
    """Runs the program under a tape, and drops it: all tests here come after that."""
    arrays, cotangents = problem
    weights = {name: tf.Variable(array) for name, array in arrays.items()}
    chain = define_chain(weights)
    held = {}
    with tf.GradientTape() as tape:
        _, pushed = chain(LENGTH, with_pushed=True)
        loss = tf.reduce_sum(pushed["h"] * cotangents)
    gradients = tape.gradient(loss, weights)
    values = pushed["h"].numpy()
    gradients = {k: tf.convert_to_tensor(g).numpy() for k, g in gradients.items()}
    held.update(tape=tape, pushed=pushed, loss=loss)
    del tape, pushed, loss, _
    drop_in_a_small_stack(held)
    return values, gradients


def test_a_chain_of_100_000_levels_has_the_values_of_a_loop(found, expected):
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", random_weights())
def test_a_chain_of_100_000_levels_has_the_gradients_of_a_loop(found, expected, name):
    ours, theirs = found[1][name], expected[1][name]
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_a_gradient_reaches_the_lowest_leaf_from_the_top(expected):
    """So that the comparison above says something about all levels."""
    alone = np.zeros([LENGTH, HIDDEN])
    alone[-1] = 1
    _, gradients = by_hand(**random_weights(), cotangents=alone)
    assert np.abs(gradients["words"][0]).max() > 1e-3
