"""Programs whose operations run on teams compute what they do on any threads."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib, define_walk

EXECUTORS = [("dataflow", "auto"), ("batched", "tensorflow"), ("batched", "auto")]
SCHEDULES = [rtf.Schedule(1, 1), rtf.Schedule(2, 1), rtf.Schedule(2, 2, "first_come")]
# More than executors measure.
RUNS = 12
# So large that products go to teams.
SIDE = 96


@pytest.fixture(params=SCHEDULES, ids=lambda schedule: schedule.attribute())
def schedule(request):
    return request.param


@pytest.fixture
def kernel():
    return tf.Variable(tf.random.stateless_normal([SIDE, SIDE], [1, 2]) / SIDE**0.5)


def define_tree(kernel, schedule, executor="dataflow", blocks="auto"):
    """Returns a SubGraph of 2^n leaves, with a product of matrices at each node."""
    options = rtf.Options(schedule=schedule, blocks=blocks)
    with rtf.SubGraph("tree", executor=executor, options=options) as tree:
        n = tree.input(tf.int32)
        leaf = lambda: tf.ones([SIDE, SIDE]) / 10  # noqa: E731
        node = lambda: tf.tanh((tree(n - 1) + tree(n - 1)) @ kernel)  # noqa: E731
        tree.output(tf.cond(n < 1, leaf, node))
    return tree


def step_of(kernel, schedule, *executor):
    tree = define_tree(kernel, schedule, *executor)

    @tf.function
    def step(n):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tree(n) ** 2)
        return loss, tape.gradient(loss, kernel)

    return step


@pytest.mark.parametrize("executor", EXECUTORS, ids=" ".join)
def test_a_tree_and_its_gradient(kernel, executor, schedule):
    expected = step_of(kernel, rtf.Schedule())(3)
    step = step_of(kernel, schedule, *executor)
    for _ in range(RUNS):
        for found, value in zip(step(3), expected, strict=True):
            np.testing.assert_allclose(found, value, 1e-3, 1e-3)


def test_second_order_gradients(kernel, schedule):
    tree = define_tree(kernel, schedule)

    @tf.function
    def step(tree, n):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(tree(n) ** 2)
            gradient = inner.gradient(loss, kernel)
            norm = tf.reduce_sum(gradient**2)
        return outer.gradient(norm, kernel)

    expected = step(define_tree(kernel, rtf.Schedule()), 2)
    found = step(tree, 2)
    scale = float(tf.reduce_max(tf.abs(expected)))
    np.testing.assert_allclose(found, expected, 1e-3, 1e-4 * scale)


def test_a_saved_program_keeps_its_schedule(kernel, tmp_path):
    module = tf.Module()
    module.kernel = kernel
    tree = define_tree(kernel, rtf.Schedule(2, 1))
    module.run = tf.function(tree, input_signature=[tf.TensorSpec([], tf.int32)])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    np.testing.assert_allclose(loaded.run(3), module.run(3), 1e-4)
    definitions = loaded.run.get_concrete_function(tf.constant(3)).graph.as_graph_def()
    schedules = {
        node.attr["schedule"].s
        for nodes in [
            definitions.node,
            *[f.node_def for f in definitions.library.function],
        ]
        for node in nodes
        if node.op == "RecursiveInvoke"
    }
    assert schedules == {b"2x1 critical_path pinned"}


def test_an_error_names_subgraph_and_path(schedule):
    options = rtf.Options(schedule=schedule)
    walk = define_walk(fails_at=6, executor="dataflow", options=options)
    for _ in range(RUNS):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="a bad node"
        ) as caught:
            walk(1)
        assert "'walk' failed at walk → call#1 → call#0: " in caught.value.message


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_a_lookup_out_of_range_is_an_error(schedule, executor):
    table = tf.Variable(tf.ones([4, 3]))
    options = rtf.Options(schedule=schedule, blocks="tensorflow")
    with rtf.SubGraph("chain", executor=executor, options=options) as chain:
        n = chain.input(tf.int32)
        row = lambda: tf.gather(table, n)  # noqa: E731
        chain.output(tf.cond(n > 0, lambda: chain(n - 2) + row(), row))
    for _ in range(RUNS):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in") as caught:
            chain(3)
        assert "'chain' failed at chain → call#0 → call#0" in caught.value.message


def test_limits_hold(schedule):
    options = rtf.Options(schedule=schedule, max_depth=50)
    endless = define_fib(leaf=lambda n: n, executor="dataflow", options=options)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_depth=50"):
        endless(60)


def test_a_chain_that_is_deep_takes_no_stack(schedule):
    options = rtf.Options(schedule=schedule)
    with rtf.SubGraph("chain", executor="dataflow", options=options) as chain:
        n = chain.input(tf.int32)
        chain.output(tf.cond(n < 1, lambda: 0, lambda: chain(n - 1) + 1))
    assert int(chain(20_000)) == 20_000


def test_shared_calls_pushes_and_maps(schedule):
    def define(schedule):
        options = rtf.Options(schedule=schedule)
        given = {"executor": "dataflow", "memo": lambda n: n, "options": options}
        with rtf.SubGraph("f", **given) as f:
            n = f.input(tf.int32)
            f.push("seen", tf.cast(n, tf.float32), index=n, size=13)
            f.output(tf.cond(n < 2, lambda: 1.0, lambda: f(n - 1) + f(n - 2)))
        return f

    found, expected = define(schedule), define(rtf.Schedule())
    for _ in range(RUNS):
        for one, other in zip(found.map([12, 7]), expected.map([12, 7]), strict=True):
            np.testing.assert_array_equal(one, other)


def test_functions_of_python_in_bodies(schedule):
    options = rtf.Options(schedule=schedule)
    inner = define_fib(executor="dataflow", options=options)
    with rtf.SubGraph("asking", executor="dataflow", options=options) as asking:
        n = asking.input(tf.int32)
        asked = tf.ensure_shape(tf.py_function(inner, [n], tf.int32), [])
        more = lambda: asking(n - 1) + asking(n - 2) + asked  # noqa: E731
        asking.output(tf.cond(n < 2, lambda: asked, more))

    def value(n):
        fib = [1, 1]
        for _ in range(n):
            fib.append(fib[-1] + fib[-2])
        return int(inner(n)) + (value(n - 1) + value(n - 2) if n >= 2 else 0)

    assert int(asking(5)) == value(5)
