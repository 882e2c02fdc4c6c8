"""A TreeLSTM three times: a SubGraph, a loop over the nodes, and the oracle."""

import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from tests.gradients.forests import FOREST_SPEC, VOCABULARY
from tests.helpers.from_scratch import fs

EMBEDDING, HIDDEN = 3, 4


def random_weights(num_nodes):
    rng = np.random.default_rng(seed=1)
    return {
        "embedding": rng.normal(size=[VOCABULARY, EMBEDDING]),
        "leaf": rng.normal(size=[EMBEDDING, 3 * HIDDEN]),
        "leaf_bias": rng.normal(size=[3 * HIDDEN]),
        "internal": rng.normal(size=[2 * HIDDEN, 5 * HIDDEN]) / 2,
        "internal_bias": rng.normal(size=[5 * HIDDEN]),
        "node_values": rng.normal(size=[num_nodes, HIDDEN]),
    }


def random_cotangents(forest):
    """Returns what a loss multiplies: h of all nodes, and h and c of the roots."""
    rng = np.random.default_rng(seed=2)
    counts = (forest.num_nodes, len(forest.roots), len(forest.roots))
    return [rng.normal(size=[count, HIDDEN]) for count in counts]


class Results(NamedTuple):
    """What a program computes.

    Attributes:
        values: h of all nodes, and h and c of the roots.
        by_nodes: The gradients of a loss over all nodes, by the weight's name.
        by_roots: The gradients of a loss over the roots.
    """

    values: list
    by_nodes: dict
    by_roots: dict


def run_oracle(forest, arrays, cotangents):
    weights = {name: fs.Capture(array) for name, array in arrays.items()}
    (h, c), tape = oracle_graph(forest, weights).run(forest.roots, mapped=True)
    nodes, *roots = cotangents
    by_nodes = tape.gradient(pushed={"h": nodes})
    by_roots = tape.gradient(*roots)
    return Results(
        [tape.pushed["h"], h, c],
        {name: by_nodes[weight] for name, weight in weights.items()},
        {name: by_roots[weight] for name, weight in weights.items()},
    )


def oracle_graph(forest, weights):
    with fs.SubGraph("tree_lstm", num_outputs=2) as tree_lstm:
        node = tree_lstm.input()
        value = fs.gather(weights["node_values"], node)

        def leaf():
            x = fs.gather(weights["embedding"], fs.gather(forest.tokens, node))
            i, o, u = fs.split(x @ weights["leaf"] + weights["leaf_bias"], 3)
            c = fs.sigmoid(i) * fs.tanh(u + value)
            return fs.sigmoid(o) * fs.tanh(c), c

        def internal():
            hl, cl = tree_lstm(fs.gather(forest.left, node))
            hr, cr = tree_lstm(fs.gather(forest.right, node))
            gates = fs.concat([hl, hr]) @ weights["internal"]
            i, fl, fr, o, u = fs.split(gates + weights["internal_bias"], 5)
            c = fs.sigmoid(i) * fs.tanh(u + value)
            c = c + fs.sigmoid(fl) * cl + fs.sigmoid(fr) * cr
            return fs.sigmoid(o) * fs.tanh(c), c

        h, c = fs.cond(fs.gather(forest.left, node) < 0, leaf, internal)
        tree_lstm.push("h", h, index=node, size=forest.num_nodes)
        tree_lstm.output(h, c)
    return tree_lstm


def leaf_state(weights, x, value):
    gates = tf.linalg.matvec(weights["leaf"], x, transpose_a=True)
    i, o, u = tf.split(gates + weights["leaf_bias"], 3)
    c = tf.sigmoid(i) * tf.tanh(u + value)
    return tf.sigmoid(o) * tf.tanh(c), c


def internal_state(weights, left, right, value):
    (hl, cl), (hr, cr) = left, right
    row = tf.concat([hl, hr], 0)[tf.newaxis, :]
    gates = tf.matmul(row, weights["internal"])[0] + weights["internal_bias"]
    i, fl, fr, o, u = tf.split(gates, 5)
    c = tf.sigmoid(i) * tf.tanh(u + value)
    c += tf.sigmoid(fl) * cl + tf.sigmoid(fr) * cr
    return tf.sigmoid(o) * tf.tanh(c), c


def recursive(forest, weights):
    with rtf.SubGraph("tree_lstm") as tree_lstm:
        node = tree_lstm.input(tf.int32)
        value = tf.gather(weights["node_values"], node)

        def leaf():
            x = tf.gather(weights["embedding"], tf.gather(forest.tokens, node))
            return leaf_state(weights, x, value)

        def internal():
            left = tree_lstm(tf.gather(forest.left, node))
            right = tree_lstm(tf.gather(forest.right, node))
            return internal_state(weights, left, right, value)

        h, c = tf.cond(tf.gather(forest.left, node) < 0, leaf, internal)
        tree_lstm.push("h", h, index=node, size=tf.size(forest.tokens))
        tree_lstm.output(h, c)
    roots, pushed = tree_lstm.map(forest.roots, with_pushed=True)
    return [pushed["h"], *roots]


def iterative(forest, weights):
    """Does one node after the other, and writes their states into two tables."""

    def step(node, h, c):
        value = tf.gather(weights["node_values"], node)
        left, right = forest.left[node], forest.right[node]

        def leaf():
            x = tf.gather(weights["embedding"], forest.tokens[node])
            return leaf_state(weights, x, value)

        def internal():
            children = [(tf.gather(h, k), tf.gather(c, k)) for k in (left, right)]
            return internal_state(weights, *children, value)

        state = tf.cond(left < 0, leaf, internal)
        return node + 1, *map(functools.partial(write, node), (h, c), state)

    size = tf.size(forest.tokens)
    zeros = tf.zeros([size, HIDDEN], weights["leaf"].dtype)
    _, h, c = tf.while_loop(lambda node, *_: node < size, step, (0, zeros, zeros))
    return [h, tf.gather(h, forest.roots), tf.gather(c, forest.roots)]


def write(node, table, row):
    return tf.tensor_scatter_nd_update(table, [[node]], row[tf.newaxis])


def differentiate(program, forest, weights, cotangents):
    """Runs a program and the gradients of both losses."""
    nodes, *roots = cotangents
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([w for w in weights.values() if isinstance(w, tf.Tensor)])
        values = program(forest, weights)
        over_nodes = tf.reduce_sum(values[0] * nodes)
        over_roots = sum(
            tf.reduce_sum(x * g) for x, g in zip(values[1:], roots, strict=True)
        )
    by_nodes = dense(tape.gradient(over_nodes, weights))
    return Results(values, by_nodes, dense(tape.gradient(over_roots, weights)))


def dense(gradients):
    return {name: tf.convert_to_tensor(g) for name, g in gradients.items()}


def run_on_variables(program, forest, arrays, cotangents, dtype=tf.float64):
    weights = {name: tf.Variable(array, dtype=dtype) for name, array in arrays.items()}
    cotangents = [tf.constant(cotangent, dtype) for cotangent in cotangents]

    @tf.function(input_signature=[FOREST_SPEC])
    def run(forest):
        return differentiate(program, forest, weights, cotangents)

    return run(forest)
