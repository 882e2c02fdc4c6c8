"""What vertex functions do in each executor: rows of docs/language.md."""

from functools import partial

import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.language.features import feature
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

feature = partial(feature, "Vertex functions")


def check(make, slots, graph, lists):
    """Compares values and gradients with those of a loop over vertices."""
    weights, x = Weights(slots), rows(len(lists))
    function = make(weights)
    decorated = rtf.vertex(state=PAIR)(function)

    def gradients(run):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(run() ** 2)
        return loss, tape.gradient(loss, [x, *weights.variables])

    found = gradients(lambda: decorated(graph, x))
    expected = gradients(lambda: oracle.run(function, PAIR, lists, x))
    assert_all_close(found, expected, rtol=1e-4)


@feature("`v.gather(i)`, over a forest or a matrix of in-neighbors", gradients=True)
def test_slots():
    check(partial(n_ary, slots=2), 2, tf.constant(TREES), TREES)


@feature("`v.gather()` of any number of in-neighbors", gradients=True)
def test_any_number():
    check(child_sum, 1, ragged(random_dag(1)), random_dag(1))


@feature("`tf.cond` and `if` on what the vertex is or gathers", gradients=True)
def test_branches():
    w = tf.Variable(3.0)

    @rtf.vertex(state=tf.float32)
    def f(v):
        y = tf.cond(v.num_inputs > 0, lambda: w * v.gather(0), lambda: v.pull())
        if y > 2.0:
            y = y - 1.0
        v.scatter(y)
        v.push(y)

    with tf.GradientTape() as tape:
        found = f([[-1], [0], [1]], tf.constant([1.0, 0.0, 0.0]))
        last = found[2]
    assert found.numpy().tolist() == [1, 2, 5]
    assert float(tape.gradient(last, w)) == 2 * 3 - 1


@feature("several pushes by name, also in branches", gradients=True)
def test_pushes():
    w = tf.Variable(3.0)

    @rtf.vertex(state=tf.float32)
    def f(v):
        y = w + v.gather(0)
        v.scatter(y)
        v.push(y, name="all")
        tf.cond(v.index > 1, lambda: v.push(2.0 * y, name="late"), lambda: None)

    with tf.GradientTape() as tape:
        found = f([[-1], [0], [1]])
    assert found["all"].numpy().tolist() == [3, 6, 9]
    assert found["late"].numpy().tolist() == [0, 0, 18]
    assert float(tape.gradient(found["late"], w)) == 6


@feature("`at=`: the rows of some vertices, e.g. of roots", gradients=True)
def test_some_vertices():
    w = tf.Variable(3.0)

    @rtf.vertex(state=tf.float32)
    def f(v):
        y = w + v.gather(0)
        v.scatter(y)
        v.push(y)

    with tf.GradientTape() as tape:
        found = f([[-1], [0], [1], [0]], at=[2, 0])
    assert found.numpy().tolist() == [9, 3]
    assert float(tape.gradient(found, w)) == 4


@feature("a graph that the `tf.function` around computes", gradients=True)
def test_a_computed_graph():
    w = tf.Variable(2.0)

    @rtf.vertex(state=tf.float32)
    def f(v):
        y = w * v.gather(0) + 1.0
        v.scatter(y)
        v.push(y)

    @tf.function
    def run(size):
        with tf.GradientTape() as tape:
            y = f(tf.range(size)[:, tf.newaxis] - 1)[-1]
        return y, tape.gradient(y, w)

    assert [float(each) for each in run(tf.constant(4))] == [15, 1 + 4 + 12]


@feature(
    "a graph with a cycle",
    raises=tf.errors.FailedPreconditionError,
    says="The graph of vertex function 'f' has a cycle…1 → 2 → 1",
)
def test_a_cycle():
    @rtf.vertex(state=tf.float32)
    def f(v):
        v.scatter(v.gather(0))
        v.push(v.gather(0))

    f([[-1], [2], [1]])


@feature(
    "calls in the body of a SubGraph",
    raises=rtf.SubGraphError,
    says="a call runs over a whole graph. Call it outside",
)
def test_in_a_body():
    @rtf.vertex(state=tf.float32)
    def f(v):
        v.scatter(1.0)
        v.push(1.0)

    with rtf.SubGraph("around") as around:
        around.output(f([[-1]]))
