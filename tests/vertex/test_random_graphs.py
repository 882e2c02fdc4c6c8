"""Over random graphs without cycles, a vertex function computes what a loop does."""

import functools

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st

import recursive_tf as rtf
from recursive_tf.python.vertices.cycles import Edges, find_cycle, order_of
from tests.helpers.close import assert_all_close
from tests.vertex import oracle
from tests.vertex.functions import PAIR, SIZE, Weights, matrix, ragged, rows

SETTINGS = hypothesis.settings(max_examples=30, deadline=None, database=None)


@st.composite
def graphs(draw, most=10):
    """Draws lists of in-neighbors: any number of them, also twice the same."""
    size = draw(st.integers(1, most))
    place = draw(st.permutations(range(size)))
    lists = [[] for _ in range(size)]
    for i in range(1, size):
        earlier = st.sampled_from(place[:i])
        lists[place[i]] = draw(st.lists(earlier, max_size=4))
    return lists


def mixed(weights):
    """Returns a function of the first in-neighbors, of all, and of how many."""

    def function(v):
        (first, c), (second, _) = v.gather(0), v.gather(1)
        x = v.pull()

        def more():
            h, c = v.gather()
            return tf.reduce_mean(h, 0) * weights.bias[:SIZE] + tf.reduce_max(c, 0)

        below = tf.cond(tf.cast(v.num_inputs, tf.int32) > 2, more, lambda: tf.sin(x))
        parts = tf.concat([first - second, below], 0)
        z = tf.linalg.matvec(weights.matrix, parts, transpose_a=True)
        i, g, u, f = tf.split(z, 4)
        state = tf.sigmoid(i) * tf.tanh(u + x), tf.sigmoid(f) * c + g
        v.scatter(state)
        v.push(state)

    return function


@functools.cache
def decorated(executor):
    """Returns the weights of a function, it, and what `rtf.vertex` makes of it."""
    weights = Weights(1, seed=3)
    function = mixed(weights)
    return weights, function, rtf.vertex(state=PAIR, executor=executor)(function)


def gradients(run, x, weights):
    with tf.GradientTape() as tape:
        tape.watch(x)
        h, c = run(x)
        loss = tf.reduce_sum(tf.sin(h) + h * c)
    sources = [x, *weights.variables]
    return h, c, tape.gradient(loss, sources, unconnected_gradients="zero")


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_values_and_gradients_are_those_of_a_loop(executor):
    weights, function, run = decorated(executor)

    @SETTINGS
    @hypothesis.given(graphs(), st.integers(0, 99), st.booleans())
    def check(lists, seed, is_ragged):
        x = rows(len(lists), seed)
        graph = ragged(lists) if is_ragged else matrix(lists, 4)
        found = gradients(lambda x: run(graph, x), x, weights)
        expected = gradients(lambda x: oracle.run(function, PAIR, lists, x), x, weights)
        assert_all_close(found, expected, rtol=1e-4, atol=1e-5)

    check()


def test_plain_python_computes_the_same():
    _, function, run = decorated("dataflow")

    @SETTINGS
    @hypothesis.given(graphs(), st.integers(0, 99))
    def check(lists, seed):
        x = rows(len(lists), seed)
        expected = oracle.run(function, PAIR, lists, x)
        assert_all_close(run(ragged(lists), x), expected)

    tf.config.run_functions_eagerly(True)
    try:
        check()
    finally:
        tf.config.run_functions_eagerly(False)


def test_a_cycle_is_found_where_there_is_one():
    @SETTINGS
    @hypothesis.given(graphs(most=30), st.data())
    def check(lists, data):
        target = [v for v, each in enumerate(lists) for _ in each]
        source = [n for each in lists for n in each]
        edges = Edges(np.array(target, int), np.array(source, int), len(lists))
        assert find_cycle(edges) is None
        order = order_of(edges)
        assert sorted(order) == list(range(len(lists)))
        place = {vertex: i for i, vertex in enumerate(order)}
        assert all(place[s] < place[t] for t, s in zip(target, source, strict=True))
        # From somewhere back to what it is made of.
        end = data.draw(st.sampled_from(range(len(lists))))
        start = data.draw(st.sampled_from(sorted(ancestors(lists, end))))
        closed = Edges(
            np.append(edges.target, start), np.append(edges.source, end), len(lists)
        )
        pairs = set(zip(closed.target.tolist(), closed.source.tolist(), strict=True))
        cycle = find_cycle(closed)
        assert set(zip(cycle, cycle[1:] + cycle[:1], strict=True)) <= pairs

    check()


def ancestors(lists, vertex):
    """Returns a vertex and all that its state is made of."""
    found, todo = set(), [vertex]
    while todo:
        vertex = todo.pop()
        if vertex not in found:
            found.add(vertex)
            todo += lists[vertex]
    return found
