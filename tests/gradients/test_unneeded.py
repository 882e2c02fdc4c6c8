"""Gradients by what no tape watches are left out; all others stay what they were."""

import contextlib
import functools

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor

SIZE, ROWS = 3, 4
# The dataflow executor adds in any order: of floats that shows in the sixth digit.
VECTOR = tf.TensorSpec([SIZE], tf.float64)


def define(weights, table, frozen, calls_itself=False):
    """Returns a SubGraph of an argument, captured rows and two variables."""
    with rtf.SubGraph("layer", output_signature=VECTOR) as layer:
        n, x = layer.input(tf.int32), layer.input(VECTOR)
        row = tf.gather(table, n % ROWS)
        y = tf.tanh(tf.linalg.matvec(weights, x) + row * tf.gather(frozen, n % ROWS))
        if calls_itself:
            y = tf.cond(n > 0, lambda: layer(n - 1, y), lambda: y)
        layer.output(y)
    return layer


@pytest.fixture
def values():
    generator = tf.random.Generator.from_seed(1)
    normal = functools.partial(generator.normal, dtype=VECTOR.dtype)
    return {
        "weights": tf.Variable(normal([SIZE, SIZE])),
        "frozen": tf.Variable(normal([ROWS, SIZE])),
        "table": normal([ROWS, SIZE]),
        "x": normal([5, SIZE]),
    }


def losses(values, watched, calls_itself=False, *, seen=None):
    """Returns the gradients by name that tapes find, one within the other.

    Args:
        values: Variables and tensors, by name.
        watched: The names that each tape watches, the outer one first.
        calls_itself: Whether the body does.
        seen: Gets the graph.
    """

    def run(table, x):
        by_name = {**values, "table": table, "x": x}
        tapes = [tf.GradientTape(watch_accessed_variables=False) for _ in watched]
        with contextlib.ExitStack() as stack:
            for tape, names in zip(tapes, watched, strict=True):
                stack.enter_context(tape).watch([by_name[name] for name in names])
            layer = define(by_name["weights"], table, values["frozen"], calls_itself)
            loss = tf.reduce_sum(layer.map(tf.range(5), x) ** 2)
        if seen is not None:
            seen.append(loss.graph)
        # The inner tape is asked first.
        found = []
        for tape, names in reversed([*zip(tapes, watched, strict=True)]):
            gradients = tape.gradient(loss, [by_name[name] for name in names])
            dense = map(tf.convert_to_tensor, gradients)
            found.append(dict(zip(names, dense, strict=True)))
        return found

    return tf.function(run, autograph=False)(values["table"], values["x"])


ALL = ("weights", "frozen", "table", "x")


@pytest.mark.parametrize("calls_itself", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_one_gradient_is_what_it_is_among_all(values, name, calls_itself):
    [of_all] = losses(values, [ALL], calls_itself)
    [alone] = losses(values, [[name]], calls_itself)
    np.testing.assert_allclose(alone[name], of_all[name], rtol=1e-6)


@pytest.mark.parametrize("calls_itself", [False, True])
def test_another_tape_may_watch_more_of_the_same_call(values, calls_itself):
    [of_all] = losses(values, [ALL], calls_itself)
    watched = [["x", "table"], ALL, ["frozen"], ["weights"]]
    for found in losses(values, watched, calls_itself):
        for name, gradient in found.items():
            np.testing.assert_allclose(gradient, of_all[name], rtol=1e-6)


def ops_of_backward(graph):
    """Returns how many ops the functions of the backward root op have."""
    types = ("RecursiveInvokeGradient", "RecursiveInvokeBatchedGradient")
    [op] = [op for op in graph.get_operations() if op.type in types]
    names = {
        function.name
        for attribute in ("procedures", "backward", "deferred")
        if attribute in op.node_def.attr
        for function in op.get_attr(attribute)
    }
    library = graph.as_graph_def().library.function
    return sum(len(f.node_def) for f in library if f.signature.name in names)


@pytest.mark.parametrize("name", ALL)
def test_what_only_others_need_is_not_computed(values, name):
    seen = []
    losses(values, [[name]], seen=seen)
    losses(values, [ALL], seen=seen)
    few, all_of_them = map(ops_of_backward, seen)
    assert 0 < few < all_of_them


def test_a_second_gradient_passes_what_the_first_left_out(values):
    def slope_by_x(run):
        with tf.GradientTape() as outer:
            outer.watch(values["x"])
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(run(values["x"]) ** 2)
            slope = inner.gradient(loss, values["weights"])
            total = tf.reduce_sum(slope**2)
        return outer.gradient(total, values["x"])

    layer = define(values["weights"], values["table"], values["frozen"])
    numbers = tf.range(5)

    def plain(x):
        rows = values["table"], values["frozen"]
        added = tf.gather(rows[0], numbers % ROWS) * tf.gather(rows[1], numbers % ROWS)
        return tf.tanh(tf.matmul(x, values["weights"], transpose_b=True) + added)

    found = tf.function(lambda: slope_by_x(lambda x: layer.map(numbers, x)))()
    np.testing.assert_allclose(found, slope_by_x(plain), rtol=1e-4)


def test_a_block_may_be_left_out_of_which_values_are_kept(values):
    """A leaf of looked-up rows that do not learn: all its gradients are unneeded."""

    def slope(tree):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tree(2) ** 2)
        return tape.gradient(loss, values["weights"])

    with rtf.SubGraph("tree", output_signature=VECTOR) as tree:
        n = tree.input(tf.int32)
        leaf = lambda: tf.sin(tf.gather(values["table"], n))  # noqa: E731
        inner = lambda: tf.linalg.matvec(values["weights"], tree(n - 1))  # noqa: E731
        tree.output(tf.cond(n > 0, inner, leaf))

    def plain(n):
        y = tf.sin(values["table"][0])
        for _ in range(n):
            y = tf.linalg.matvec(values["weights"], y)
        return y

    found = tf.function(lambda: slope(tree))()
    np.testing.assert_allclose(found, slope(plain), rtol=1e-5)
