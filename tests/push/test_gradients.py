"""The gradient of a pushed table goes back to the invocations, row by row."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor

DEPTH = 3
# What the loss multiplies each row of a table by; invocations push rows 0 to 3.
SCALE = tf.constant([1.0, -2.0, 3.0, 0.5, 7.0])


@pytest.fixture
def w():
    return tf.Variable(1.5)


@pytest.fixture
def x():
    return tf.constant(0.8)


def slopes(function, x, w):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(function(x))
    return tape.gradient(loss, [x, w], unconnected_gradients="zero")


def assert_same(recursive, unrolled, x, w):
    expected = slopes(unrolled, x, w)
    for way in (recursive, tf.function(recursive)):
        for ours, theirs in zip(slopes(way, x, w), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def values_of(base, x, w):
    """Returns what the invocations compute, the one for n first."""
    values = [base(x)]
    for _ in range(DEPTH):
        values.insert(0, w * values[0])
    return values


def table_of(x, w):
    """Returns what the invocations of `pushing` push, by n."""
    rows = list(reversed(values_of(tf.sin, x, w)))
    return tf.stack([*rows, tf.zeros([])])


def pushing(w, where="anywhere"):
    """Returns x, n -> w^n sin(x), where each invocation pushes that to row n."""
    with rtf.SubGraph("pushing") as f:
        x, n = f.input(tf.float32), f.input(tf.int32)

        def push(value):
            f.push("y", value, index=n, size=5)
            return value

        def base():
            return push(tf.sin(x)) if where == "base" else tf.sin(x)

        def more():
            y = w * f(x, n - 1)
            return push(y) if where == "step" else y

        y = tf.cond(n < 1, base, more)
        f.output(push(y) if where == "anywhere" else y)
    return f


def test_a_table_alone_may_carry_the_gradient(w, x):
    f = pushing(w)

    def recursive(x):
        _, pushed = f(x, DEPTH, with_pushed=True)
        return SCALE * pushed["y"]

    assert_same(recursive, lambda x: SCALE * table_of(x, w), x, w)


def test_the_output_alone_may_carry_the_gradient(w, x):
    f = pushing(w)
    assert_same(lambda x: f(x, DEPTH), lambda x: table_of(x, w)[DEPTH], x, w)


def test_gradients_of_the_output_and_of_the_table_add_up(w, x):
    f = pushing(w)

    def recursive(x):
        y, pushed = f(x, DEPTH, with_pushed=True)
        return y**2 + SCALE * pushed["y"]

    def unrolled(x):
        table = table_of(x, w)
        return table[DEPTH] ** 2 + SCALE * table

    assert_same(recursive, unrolled, x, w)


def test_a_table_that_the_loss_does_not_use_changes_nothing(w, x):
    f = pushing(w)

    def recursive(x):
        y, pushed = f(x, DEPTH, with_pushed=True)
        return y + tf.stop_gradient(pushed["y"])

    def unrolled(x):
        table = table_of(x, w)
        return table[DEPTH] + tf.stop_gradient(table)

    assert_same(recursive, unrolled, x, w)


@pytest.mark.parametrize(
    ("where", "rows"), [("base", [1, 0, 0, 0, 0]), ("step", [0, 1, 1, 1, 0])]
)
def test_a_push_in_a_branch_has_a_gradient_where_it_was_made(where, rows, w, x):
    f = pushing(w, where)

    def recursive(x):
        _, pushed = f(x, DEPTH, with_pushed=True)
        return SCALE * pushed["y"]

    mask = tf.constant(rows, tf.float32)
    assert_same(recursive, lambda x: mask * SCALE * table_of(x, w), x, w)


def test_a_row_that_nobody_pushed_sends_no_gradient(w, x):
    f = pushing(w)
    _, only_empty = tf.split(SCALE, [DEPTH + 1, 1])

    def recursive(x):
        _, pushed = f(x, DEPTH, with_pushed=True)
        return only_empty * pushed["y"][DEPTH + 1 :]

    assert [float(g) for g in slopes(recursive, x, w)] == [0, 0]


def test_a_callee_that_returns_only_integers_may_push(w, x):
    """Neither an argument nor an output of its calls has a gradient."""
    with rtf.SubGraph("walk") as walk:
        n = walk.input(tf.int32)
        walk.push("y", w * x * tf.cast(n, tf.float32), index=n, size=5)
        walk.output(tf.cond(n < 1, lambda: 0, lambda: 1 + walk(n - 1)))

    def recursive(_):
        return SCALE * walk(DEPTH, with_pushed=True)[1]["y"]

    def unrolled(x):
        return SCALE * w * x * tf.constant([0.0, 1, 2, 3, 0])

    np.testing.assert_allclose(
        slopes(recursive, x, w)[1], slopes(unrolled, x, w)[1], rtol=1e-5
    )


def test_a_push_deep_below_a_callee_of_integers_is_found(w):
    """`top` calls `middle`, and that calls `bottom`, which pushes."""
    with rtf.SubGraph("bottom") as bottom:
        n = bottom.input(tf.int32)
        bottom.push("y", w * tf.cast(n, tf.float32), index=n, size=5)
        bottom.output(n)
    with rtf.SubGraph("middle") as middle:
        n = middle.input(tf.int32)
        middle.output(tf.cond(n > 1, lambda: bottom(n), lambda: n))
    with rtf.SubGraph("top") as top:
        n = top.input(tf.int32)
        top.output(tf.cond(n < 1, lambda: 0, lambda: middle(n) + top(n - 1)))
    with tf.GradientTape() as tape:
        _, pushed = top(DEPTH, with_pushed=True)
        loss = tf.reduce_sum(SCALE * pushed["y"])
    assert float(tape.gradient(loss, w)) == 3.0 * 2 + 0.5 * 3


def push_in_a_loop(w, executor):
    """Returns the pushed table of a loop whose turns call what pushes."""
    with rtf.SubGraph("leaf", executor=executor) as leaf:
        n = leaf.input(tf.int32)
        y = w * tf.cast(n, tf.float32)
        leaf.push("y", y, index=n, size=5)
        leaf.output(y)
    with rtf.SubGraph("top", executor=executor) as top:
        n = top.input(tf.int32)
        top.output(
            tf.while_loop(
                lambda i, _: i < n, lambda i, y: (i + 1, y + leaf(i)), (0, 0.0)
            )[1]
        )
    return top(DEPTH, with_pushed=True)[1]["y"]


@pytest.mark.executor("dataflow")
def test_a_push_by_a_callee_in_a_loop_is_refused_by_the_dataflow_executor(w):
    with pytest.raises(NotImplementedError, match="a push in a loop has no gradient"):
        slopes(lambda _: push_in_a_loop(w, "dataflow"), tf.constant(0.0), w)


@pytest.mark.executor("batched")
def test_a_push_by_a_callee_in_a_loop_has_a_gradient_in_the_batched_executor(w):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(push_in_a_loop(w, "batched") ** 2)
    expected = 2 * w * sum(n**2 for n in range(DEPTH))
    np.testing.assert_allclose(tape.gradient(loss, w), expected, rtol=1e-5)


@pytest.mark.parametrize("where", ["anywhere", "base", "step"])
def test_map_sends_every_row_to_the_invocation_that_pushed_it(where, w):
    """The trees of a forest push to one table."""
    with rtf.SubGraph("halve") as halve:
        n, x = halve.input(tf.int32), halve.input(tf.float32)

        def push(value, here):
            if where == here:
                halve.push("y", value, index=n, size=8)
            return value

        y = tf.cond(
            tf.equal(n % 2, 1),
            lambda: push(tf.sin(x), "base"),
            lambda: push(w * halve(n // 2, x), "step"),
        )
        halve.output(push(y, "anywhere"))
    xs = tf.constant([0.2, 0.5, 0.9])
    scale = tf.range(1.0, 9.0)

    def recursive(xs):
        _, pushed = halve.map([4, 6, 7], xs, with_pushed=True)
        return scale * pushed["y"]

    def unrolled(xs):
        one, three, seven = tf.unstack(tf.sin(xs))
        base = tf.stack([0, one, 0, three, 0, 0, 0, seven])
        step = tf.stack([0, 0, w * one, 0, w * w * one, 0, w * three, 0])
        use = {"base": base, "step": step, "anywhere": base + step}
        return scale * use[where]

    assert_same(recursive, unrolled, xs, w)


def test_one_value_may_go_into_several_tables(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        z = tf.cond(n < 1, lambda: tf.sin(y), lambda: w * f(y, n - 1))
        f.push("a", z, index=n, size=5)
        f.push("b", z * z, index=4 - n, size=5)
        f.output(z)

    def recursive(x):
        y, pushed = f(x, DEPTH, with_pushed=True)
        return y + SCALE * pushed["a"] + tf.cos(SCALE) * pushed["b"]

    def unrolled(x):
        a = table_of(x, w)
        return a[DEPTH] + SCALE * a + tf.cos(SCALE) * tf.reverse(a * a, [0])

    assert_same(recursive, unrolled, x, w)


def test_a_table_of_integers_stands_beside_one_with_a_gradient(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        f.push("n", n * n, index=n, size=5)
        z = tf.cond(n < 1, lambda: tf.sin(y), lambda: w * f(y, n - 1))
        f.push("y", z, index=n, size=5)
        f.output(z)

    def recursive(x):
        _, pushed = f(x, DEPTH, with_pushed=True)
        return SCALE * pushed["y"] * tf.cast(pushed["n"], tf.float32)

    def unrolled(x):
        return SCALE * table_of(x, w) * tf.constant([0.0, 1, 4, 9, 0])

    assert_same(recursive, unrolled, x, w)


def test_an_argument_that_is_pushed_has_its_gradient(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        f.push("y", y, index=n, size=5)
        f.output(tf.cond(n < 1, lambda: y, lambda: f(w * y, n - 1)))

    def recursive(x):
        _, pushed = f(x, DEPTH, with_pushed=True)
        return SCALE * pushed["y"]

    def unrolled(x):
        return SCALE * tf.stack([w**3 * x, w**2 * x, w * x, x, 0])

    assert_same(recursive, unrolled, x, w)


def test_rows_may_be_matrices(w):
    x = tf.constant([[0.5, 1.0], [2.0, -1.0]])
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32, [2, 2]), f.input(tf.int32)
        f.push("y", y, index=n, size=3)
        f.output(tf.cond(n < 1, lambda: y, lambda: f(w * y @ y, n - 1)))

    def recursive(x):
        return f(x, 2, with_pushed=True)[1]["y"] ** 2

    def unrolled(x):
        once = w * x @ x
        return tf.stack([w * once @ once, once, x]) ** 2

    assert_same(recursive, unrolled, x, w)


def test_a_push_in_a_function_has_a_gradient(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)

        @tf.function
        def push(value):
            f.push("y", value, index=n, size=5)
            return value

        f.output(push(tf.cond(n < 1, lambda: tf.sin(y), lambda: w * f(y, n - 1))))

    def recursive(x):
        _, pushed = f(x, DEPTH, with_pushed=True)
        return SCALE * pushed["y"]

    assert_same(recursive, lambda x: SCALE * table_of(x, w), x, w)


@pytest.mark.falls_back("an effect")
def test_a_program_with_effects_pushes_with_a_gradient(w, x):
    counter = tf.Variable(0)
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32), f.input(tf.int32)
        counter.assign_add(1)
        z = tf.cond(n < 1, lambda: tf.sin(y), lambda: w * f(y, n - 1))
        f.push("y", z, index=n, size=5)
        f.output(z)

    def recursive(x):
        _, pushed = f(x, DEPTH, with_pushed=True)
        return SCALE * pushed["y"]

    assert_same(recursive, lambda x: SCALE * table_of(x, w), x, w)
