"""What is wrong with the values of a graph: an error names the vertices."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of


def fine(v):
    y = v.gather(0) + 1
    v.scatter(y)
    v.push(y)


WRONG = {
    "a matrix": ([[-1, -1], [0, 2]], "Vertex 1", "in-neighbor 2", "its 2"),
    "below": ([[-1], [0], [-2]], "Vertex 2", "in-neighbor -2", "its 3"),
    "lists": (
        tf.ragged.constant([[], [0], [], [1, 4, 9]]),
        "Vertex 3",
        "in-neighbor 4",
        "its 4",
    ),
    "none, in lists": (
        tf.ragged.constant([[], [-1]]),
        "Vertex 1",
        "in-neighbor -1",
        "its 2",
    ),
}


@pytest.mark.parametrize(("graph", *"abc"), WRONG.values(), ids=WRONG)
def test_an_in_neighbor_is_a_vertex(graph, a, b, c, way):
    decorated = rtf.vertex(state=tf.float32)(fine)
    for call in (lambda: way(decorated)(graph), way(lambda: decorated(graph))):
        message = message_of(call, tf.errors.InvalidArgumentError)
        for words in (a, "of vertex function 'fine'", b, c):
            assert words in message.replace("\\'", "'")


CYCLES = {
    "of two": ([[1], [0]], "0 → 1 → 0"),
    "of itself": ([[-1], [0], [2]], "2 → 2"),
    "of three": (tf.ragged.constant([[], [3], [0, 1], [0, 2]]), "1 → 3 → 2 → 1"),
    "after a chain": ([[-1], [0], [1], [4], [3], [4]], "3 → 4 → 3"),
}


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
@pytest.mark.parametrize(("graph", "cycle"), CYCLES.values(), ids=CYCLES)
def test_a_cycle_is_shown(graph, cycle, executor):
    decorated = rtf.vertex(state=tf.float32, executor=executor)(total)
    error = tf.errors.FailedPreconditionError
    for way in (lambda f: f, tf.function):
        message = message_of(way(lambda: decorated(graph)), error)
        assert "The graph of vertex function 'total' has a cycle" in message
        assert cycle in message
        assert "each round has vertices of its own" in message
    of_any_graph = tf.function(decorated)
    message = message_of(lambda: of_any_graph(_tensor(graph)), error)
    assert "SubGraph 'total' failed" in message
    assert "look for a cycle" in message


def _tensor(graph):
    return graph if isinstance(graph, tf.RaggedTensor) else tf.constant(graph)


def total(v):
    y = tf.reduce_sum(v.gather()) + 1
    v.scatter(y)
    v.push(y)


def test_a_cycle_is_shown_where_a_function_runs_as_plain_python():
    decorated = rtf.vertex(state=tf.float32)(total)
    tf.config.run_functions_eagerly(True)
    try:
        message = message_of(
            lambda: decorated([[1], [0]]), tf.errors.FailedPreconditionError
        )
    finally:
        tf.config.run_functions_eagerly(False)
    assert "0 → 1 → 0" in message


def test_of_a_long_cycle_both_ends_are_shown():
    decorated = rtf.vertex(state=tf.float32)(total)
    size = 100
    graph = np.roll(np.arange(size), 1)[:, np.newaxis]
    message = message_of(lambda: decorated(graph), tf.errors.FailedPreconditionError)
    assert "0 → 99 → 98" in message
    assert "89 more" in message
    assert "1 → 0" in message


def test_an_error_that_is_no_cycle_stays_what_it_is():
    @rtf.vertex(state=tf.float32)
    def f(v):
        with tf.control_dependencies([tf.debugging.assert_less(v.index, 1)]):
            v.scatter(v.gather(0))
        v.push(v.gather(0))

    message = message_of(lambda: f([[-1], [0]]), tf.errors.InvalidArgumentError)
    assert "SubGraph 'f' failed at f_vertices[row 1]" in message
