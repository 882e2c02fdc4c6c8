"""`at=`: rows of some vertices are those rows of all, and others need not run."""

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.helpers.failures import message_of
from tests.vertex import oracle
from tests.vertex.functions import (
    PAIR,
    TREES,
    Weights,
    child_sum,
    n_ary,
    ragged,
    random_dag,
    rows,
)

ROOTS = [4, 5]
SETTINGS = hypothesis.settings(max_examples=20, deadline=None, database=None)


def gradients_of(run, x, weights):
    """Returns rows, and gradients of a loss of them."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = run(x)
        loss = tf.reduce_sum(tf.sin(found) * tf.cast(tf.range(1, 4), tf.float32))
    sources = [x, *weights.variables]
    return found, tape.gradient(loss, sources, unconnected_gradients="zero")


@pytest.mark.every_executor
@pytest.mark.parametrize("at", [ROOTS, [3], [2, 4, 2, 0], np.int64([5, 1])], ids=str)
def test_rows_and_gradients_are_those_of_a_loop(at):
    weights, x = Weights(2), rows(len(TREES))
    function = n_ary(weights, 2)
    tree_lstm = rtf.vertex(state=PAIR)(function)
    expected = gradients_of(
        lambda x: tf.gather(oracle.run(function, PAIR, TREES, x), at), x, weights
    )
    run = tf.function(lambda x: gradients_of(lambda x: call(x), x, weights))

    def call(x):
        return tree_lstm(TREES, x, at=at)

    assert call(x).shape == [len(at), 3]
    assert_all_close(gradients_of(call, x, weights), expected, rtol=1e-4)
    assert_all_close(run(x), expected, rtol=1e-4)


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_of_any_graph_and_vertices(executor):
    weights = Weights(1)
    function = child_sum(weights)
    run = rtf.vertex(state=PAIR, executor=executor)(function)
    traced = tf.function(
        lambda graph, at, x: gradients_of(lambda x: run(graph, x, at=at), x, weights),
        reduce_retracing=True,
    )

    @SETTINGS
    @hypothesis.given(st.integers(0, 99), st.lists(st.integers(0, 11), max_size=6))
    def check(seed, at):
        lists, x = random_dag(seed, size=12), rows(12, seed)
        at = tf.constant(at, tf.int32)
        expected = gradients_of(
            lambda x: tf.gather(oracle.run(function, PAIR, lists, x), at), x, weights
        )
        found = traced(ragged(lists), at, x)
        assert_all_close(found, expected, rtol=1e-4, atol=1e-5)

    check()


def test_no_vertex_is_wanted(way):
    tree_lstm = rtf.vertex(state=PAIR)(n_ary(Weights(2), 2))
    found = way(lambda: tree_lstm(TREES, rows(len(TREES)), at=tf.zeros([0], tf.int32)))
    if way is tf.function:
        assert found().shape == [0, 3]
    assert rtf.vertex(state=tf.int32)(only_even)([[-1]], at=[]).shape == [0]


def only_even(v):
    """Refuses odd vertices."""
    with tf.control_dependencies([tf.debugging.assert_equal(v.index % 2, 0)]):
        y = v.gather(0) + v.index
    v.scatter(y)
    v.push(y)


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_vertices_that_none_depends_on_do_not_run(way, executor):
    decorated = rtf.vertex(state=tf.int32, executor=executor)(only_even)
    graph = [[-1], [0], [0], [2], [2]]
    assert way(lambda: decorated(graph, at=[4, 0]))().numpy().tolist() == [6, 0]
    message_of(way(lambda: decorated(graph, at=[3])), tf.errors.InvalidArgumentError)


def of_many_kinds(v):
    """Pushes the state, what is beside it, and in a branch."""
    y = v.gather(0)["y"] + 1.0
    v.push(y, name="before")
    v.scatter({"y": y, "z": 10.0 * y})
    v.push((y, 2.0 * y), name="pair")
    tf.cond(v.index > 1, lambda: v.push(3.0 * y, name="late"), lambda: None)


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_pushes_of_all_kinds(way, executor):
    state = {"y": tf.float32, "z": tf.float32}
    decorated = rtf.vertex(state=state, executor=executor)(of_many_kinds)
    graph = [[-1], [0], [1], [0]]
    found = way(lambda: decorated(graph, at=[3, 2, 0]))()
    assert found["before"].numpy().tolist() == [2, 3, 1]
    assert [each.numpy().tolist() for each in found["pair"]] == [[2, 3, 1], [4, 6, 2]]
    assert found["late"].numpy().tolist() == [6, 9, 0]


def test_a_row_that_is_pushed_twice_is_an_error_as_without(way):
    @rtf.vertex(state=tf.float32)
    def twice(v):
        y = v.gather(0) + 1.0
        v.scatter(y)
        v.push(y)
        v.push(y)

    for at in (None, [0]):
        call = way(lambda at=at: twice([[-1]], at=at))
        assert "pushed" in message_of(call, tf.errors.InvalidArgumentError)


def test_states_of_others_are_not_kept():
    """A table would have a row for each vertex."""
    decorated = rtf.vertex(state=tf.TensorSpec([]), executor="batched")

    @decorated
    def chain(v):
        y = v.gather(0) + 1.0
        v.scatter(y)
        v.push(y)

    graph = np.arange(9)[:, np.newaxis] - 1

    def pushes_of(at):
        concrete = tf.function(lambda: chain(graph, at=at)).get_concrete_function()
        definition = concrete.graph.as_graph_def()
        nodes = [node for f in definition.library.function for node in f.node_def]
        return [node for node in nodes if "Push" in node.op]

    assert chain(graph, at=[8]).numpy().tolist() == [9]
    assert pushes_of(None)
    assert not pushes_of([8])


def test_a_method_and_a_signature_for_serving(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(2.0)

        @rtf.vertex(state=tf.float32)
        def total(self, v):
            y = v.gather(0) + self.scale * v.pull()
            v.scatter(y)
            v.push(y)

        @tf.function(
            input_signature=[
                tf.TensorSpec([None, 1], tf.int32),
                tf.TensorSpec([None]),
                tf.TensorSpec([None], tf.int64),
            ]
        )
        def __call__(self, graph, x, at):
            return self.total(graph, x, at=at)

    tf.saved_model.save(Model(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    found = loaded([[-1], [0], [1]], [1.0, 2.0, 3.0], tf.constant([2, 0], tf.int64))
    assert found.numpy().tolist() == [12, 2]


@pytest.mark.parametrize("row", [[0, 6], [0, -1], tf.constant([0, 2**32], tf.int64)])
def test_a_number_that_is_of_no_vertex(row, way):
    tree_lstm = rtf.vertex(state=PAIR, name="tree")(n_ary(Weights(2), 2))
    call = way(lambda: tree_lstm(TREES, rows(len(TREES)), at=row))
    message = message_of(call, tf.errors.InvalidArgumentError).replace("\\'", "'")
    wrong = int(row[1])
    assert "Row 1 of at= of vertex function 'tree' is vertex " in message
    assert f"vertex {wrong}, which is none of its 6." in message


@pytest.mark.parametrize("at", [4, [[4]], [4.0], "root", [None]], ids=str)
def test_what_is_no_vector_of_integers(at, way):
    tree_lstm = rtf.vertex(state=PAIR, name="tree")(n_ary(Weights(2), 2))
    call = way(lambda: tree_lstm(TREES, rows(len(TREES)), at=at))
    message = message_of(call, rtf.SubGraphError)
    assert "at= of vertex function 'tree' is " in message
    assert "e.g. at=forest.roots" in message
