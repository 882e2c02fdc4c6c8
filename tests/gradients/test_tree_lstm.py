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
from tests.helpers.close import assert_all_close

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]

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


TABLE_SPEC = tf.TensorSpec([None, HIDDEN], tf.float64)
WEIGHT_SPECS = {
    name: tf.TensorSpec(array.shape, tf.float64)
    for name, array in random_weights(1).items()
} | {"node_values": TABLE_SPEC}


@pytest.fixture(scope="module")
def run_on_tensors(executor):
    """The recursive program, with weights that are tensors of the function's graph."""

    @tf.function(input_signature=[FOREST_SPEC, WEIGHT_SPECS, [TABLE_SPEC] * 3])
    def run(forest, weights, cotangents):
        return differentiate(recursive, forest, weights, cotangents)

    run.get_concrete_function()
    return run


# --- The comparison


def assert_equal(ours, theirs):
    """Element by element, for float64."""
    assert_all_close(ours, theirs, rtol=1e-8, atol=1e-10)


def assert_close(ours, theirs):
    """Relative to the largest element, for sums in which float32 terms cancel."""
    for a, b in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-4 * np.abs(b).max())


@pytest.fixture(scope="module")
def problem():
    forest = random_forest()
    return forest, random_weights(forest.num_nodes), random_cotangents(forest)


@pytest.fixture(scope="module")
def expected(problem):
    return run_oracle(*problem)


@pytest.fixture(scope="module")
def found(problem, executor):
    return run_on_variables(recursive, *problem)


@pytest.fixture(scope="module")
def found_in_float32(problem, executor):
    return run_on_variables(recursive, *problem, tf.float32)


@pytest.fixture(scope="module")
def looped(problem):
    return run_on_variables(iterative, *problem)


@pytest.mark.traces_only
def test_the_trees_are_of_dozens_of_sizes_and_one_is_a_long_chain(problem):
    sizes = np.diff(problem[0].roots, prepend=-1)
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
def test_float32_is_as_exact_as_it_can_be(found_in_float32, expected, part):
    assert_close(getattr(found_in_float32, part), getattr(expected, part))


@st.composite
def forests(draw):
    """Up to four trees of up to twelve leaves, of any shape."""
    joins = st.lists(st.integers(0, 10**6), max_size=11)
    trees = []
    for picks in draw(st.lists(joins, min_size=1, max_size=4)):
        pick = iter(picks)
        trees.append(grow(len(picks) + 1, lambda n, pick=pick: next(pick) % n))
    return plant(trees, seed=draw(st.integers(0, 100)))


@hypothesis.settings(max_examples=50, deadline=None)
@hypothesis.given(forest=forests())
def test_any_forest_has_the_values_and_gradients_of_the_oracle(run_on_tensors, forest):
    problem = forest, random_weights(forest.num_nodes), random_cotangents(forest)
    assert_equal(run_on_tensors(*problem), run_oracle(*problem))


@pytest.mark.parametrize(
    "tree",
    [grow(1, None), chain(4), grow(7, random.Random(3).randrange)],
    ids=["one node", "a chain", "a random tree"],
)
def test_a_gradient_is_what_finite_differences_say(run_on_tensors, tree):
    forest = plant([tree])
    arrays, cotangents = random_weights(forest.num_nodes), random_cotangents(forest)

    def losses():
        values, *_ = run_on_tensors(forest, arrays, cotangents)
        products = [
            np.sum(v * g)
            for v, g in zip(map(np.array, values), cotangents, strict=True)
        ]
        return np.array([products[0], products[1] + products[2]])

    exact = run_on_tensors(forest, arrays, cotangents)
    for name, array in arrays.items():
        by_nodes, by_roots = slopes(losses, array)
        np.testing.assert_allclose(exact.by_nodes[name], by_nodes, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(exact.by_roots[name], by_roots, rtol=1e-5, atol=1e-8)


def slopes(losses, array, step=1e-5):
    """Returns the central difference of each loss by each element of an array."""
    result = np.zeros([*array.shape, 2])
    for index in np.ndindex(*array.shape):
        before = array[index]
        array[index] = before + step
        above = losses()
        array[index] = before - step
        result[index] = (above - losses()) / (2 * step)
        array[index] = before
    return np.moveaxis(result, -1, 0)
