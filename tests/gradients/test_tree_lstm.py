"""A TreeLSTM has the oracle's values and gradients, on trees of every shape.

Three programs compute the same: a SubGraph, a `tf.while_loop` over the nodes, and the
oracle, `docs/from_scratch.py`, which shares no code with TensorFlow.
"""

import functools
import importlib.util
import pathlib
import random
import sys
from typing import NamedTuple

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

ORACLE = pathlib.Path(__file__).parents[2] / "docs" / "from_scratch.py"
VOCABULARY, EMBEDDING, HIDDEN = 7, 3, 4
CHAIN_LENGTH = 1_000
NUM_TREES = 200


def _load_oracle():
    spec = importlib.util.spec_from_file_location("from_scratch", ORACLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Dataclasses look their module up by name.
    spec.loader.exec_module(module)
    return module


fs = _load_oracle()


# --- Trees


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
        choose: From n - 1 pairs of neighbours, which to join; returns its number.
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


def random_forest():
    """Returns 200 trees: the smallest, a long chain, and random ones in between."""
    rng = random.Random(0)
    trees = [grow(1, None), chain(CHAIN_LENGTH), grow(2, rng.randrange)]
    while len(trees) < NUM_TREES:
        trees.append(grow(rng.randint(1, rng.randint(1, 30)), rng.randrange))
    rng.shuffle(trees)
    return plant(trees)


# --- What all three programs compute


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


def run_tensorflow(program, forest, arrays, cotangents, dtype=tf.float64):
    """Runs a program with its gradients as one `tf.function`."""
    weights = {k: tf.Variable(v, dtype=dtype) for k, v in arrays.items()}
    nodes, *roots = (tf.constant(cotangent, dtype) for cotangent in cotangents)

    @tf.function(input_signature=[FOREST_SPEC])
    def run(forest):
        with tf.GradientTape(persistent=True) as tape:
            values = program(forest, weights)
            over_nodes = tf.reduce_sum(values[0] * nodes)
            over_roots = sum(
                tf.reduce_sum(x * g) for x, g in zip(values[1:], roots, strict=True)
            )
        by_nodes = dense(tape.gradient(over_nodes, weights))
        return values, by_nodes, dense(tape.gradient(over_roots, weights))

    return Results(*run(forest))


def dense(gradients):
    return {name: tf.convert_to_tensor(g) for name, g in gradients.items()}


# --- The comparison

EQUAL = {"rtol": 1e-8, "atol": 1e-10}


def assert_equal(ours, theirs):
    """Element by element, for float64."""
    for a, b in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(a, b, **EQUAL)


def assert_close(ours, theirs, relative=1e-4):
    """Relative to the largest element, for sums in which float32 terms cancel."""
    for a, b in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=relative * np.abs(b).max())


@pytest.fixture(scope="module")
def forest():
    return random_forest()


@pytest.fixture(scope="module")
def arrays(forest):
    return random_weights(forest.num_nodes)


@pytest.fixture(scope="module")
def cotangents(forest):
    return random_cotangents(forest)


@pytest.fixture(scope="module")
def expected(forest, arrays, cotangents):
    return run_oracle(forest, arrays, cotangents)


@pytest.fixture(scope="module")
def found(forest, arrays, cotangents):
    return run_tensorflow(recursive, forest, arrays, cotangents)


@pytest.fixture(scope="module")
def looped(forest, arrays, cotangents):
    return run_tensorflow(iterative, forest, arrays, cotangents)


def test_the_forest_has_trees_of_dozens_of_sizes_and_a_deep_one(forest):
    sizes = np.diff(forest.roots, prepend=-1)
    assert len(sizes) == NUM_TREES
    assert len(set(sizes)) >= 24
    assert sizes.min() == 1
    assert sizes.max() == 2 * CHAIN_LENGTH + 1


@pytest.mark.parametrize("part", Results._fields)
def test_a_recursive_program_computes_what_the_oracle_computes(found, expected, part):
    assert_equal(getattr(found, part), getattr(expected, part))


@pytest.mark.parametrize("part", Results._fields)
def test_a_recursive_program_computes_what_a_loop_computes(found, looped, part):
    assert_equal(getattr(found, part), getattr(looped, part))


@pytest.mark.parametrize("part", Results._fields)
def test_a_recursive_program_is_as_exact_as_float32_allows(
    forest, arrays, cotangents, expected, part
):
    found = run_in_float32(forest, arrays, cotangents)
    assert_close(getattr(found, part), getattr(expected, part))


def _float32_results():
    forest = random_forest()
    arrays = random_weights(forest.num_nodes)
    return run_tensorflow(
        recursive, forest, arrays, random_cotangents(forest), tf.float32
    )


def run_in_float32(*_):
    return _float32_results()
