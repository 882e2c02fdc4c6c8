"""What nobody wants neither fails nor makes a gradient NaN: see docs/decisions/0018.

The expected values are those of the parts of a program that run.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]


def gradient(function, *sources):
    """Returns the value of a function, and its gradients."""
    with tf.GradientTape() as tape:
        y = function()
    found = tape.gradient(y, list(sources), unconnected_gradients="zero")
    return [y.numpy(), *(tf.convert_to_tensor(each).numpy() for each in found)]


def assert_gives(found, *expected):
    for ours, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, right, rtol=1e-6)


def test_captures_that_a_branch_divides_may_be_zero_where_it_is_not_taken():
    k = tf.Variable(0)
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32)
        quotient = lambda: x / tf.cast(100 // k, tf.float32)  # noqa: E731
        f.output(tf.cond(k > 0, quotient, lambda: x))
    assert f(3.0).numpy() == 3.0
    k.assign(50)
    assert f(3.0).numpy() == 1.5


def test_the_argument_of_a_call_that_is_not_made_may_be_infinite():
    g = tf.Variable(1.0)
    with rtf.SubGraph("f") as f:
        s, n = f.input(tf.float32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: 0.0, lambda: f(s * g, n - 1) + s * g))
    found = gradient(lambda: f.map(tf.constant([float("-inf"), 2.0]), [0, 1]), g)
    assert_gives(found, [0.0, 2.0], 2.0)


def test_what_several_places_take_of_captures_has_the_gradient_of_those_that_ran():
    w = tf.Variable([3.0, 4.0])
    with rtf.SubGraph("f") as f:
        x, n = f.input(tf.float32), f.input(tf.int32)
        unit = w / tf.norm(w)
        deeper = lambda: f(x * unit[0], n - 1) + unit[1] * x  # noqa: E731
        f.output(tf.cond(n > 0, deeper, lambda: tf.reduce_sum(unit) * x))

    def unrolled():
        unit = w / tf.norm(w)
        last = tf.reduce_sum(unit)
        return tf.stack([unit[1] + unit[0] * last, last * 2.0])

    found = gradient(lambda: f.map(tf.constant([1.0, 2.0]), [1, 0]), w)
    assert_gives(found, *gradient(unrolled, w))


def test_a_root_of_zero_that_nobody_reads_has_no_gradient():
    z, w = tf.Variable(0.0), tf.Variable([1.0, 2.0])
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        leaf = lambda: tf.reduce_prod(w)  # noqa: E731
        more = lambda: tf.cond(n > 0, lambda: 2.0 * f(n - 1), leaf)  # noqa: E731
        f.output(tf.cond(n > 5, lambda: tf.sqrt(z), more))
    found = gradient(lambda: f.map(tf.constant([0, 2])), z, w)
    assert_gives(found, [2.0, 8.0], 0.0, [10.0, 5.0])


@pytest.mark.parametrize("shape", [[4, 3], [None, 3]])
def test_a_variable_that_nobody_looks_up_in_has_a_gradient_of_its_shape(shape):
    v = tf.Variable(tf.ones([4, 3]), shape=tf.TensorShape(shape))
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        look_up = lambda: v.gather_nd([[n, n]])[0]  # noqa: E731
        f.output(tf.cond(n > 0, look_up, lambda: x * x))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(f.map([0, 0], tf.constant([1.0, 2.0])))
    assert tf.shape(tape.gradient(y, v)).numpy().tolist() == [4, 3]


def test_a_result_that_nobody_reads_has_no_gradient():
    z = tf.Variable(0.0)
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32)
        f.output((tf.sqrt(z), x * z))
    assert_gives(gradient(lambda: f.map([1.0, -2.0])[1], z), [0.0, 0.0], -1.0)


def test_without_rows_nothing_runs_that_may_fail():
    z, k = tf.Variable(0.0), tf.Variable(0)
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32)
        f.output(x * tf.sqrt(z) / tf.cast(1 // k, tf.float32))
    assert_gives(gradient(lambda: f.map(tf.zeros([0])), z), np.zeros(0), 0.0)


def test_a_turn_that_is_not_taken_may_fail():
    z, k = tf.Variable(0.0), tf.Variable(0)
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)

        def turn(i, v):
            return i + 1, v * tf.sqrt(z) + tf.cast(3 // k, tf.float32)

        last = tf.while_loop(lambda i, _: i < n, turn, (0, x))[1]
        f.output(last * (1.0 + z))
    found = gradient(lambda: f.map([0, -1], tf.constant([1.0, 2.0])), z)
    assert_gives(found, [1.0, 2.0], 3.0)


def test_what_is_pushed_and_what_selects_may_fail_where_it_is_not_wanted():
    k, z = tf.Variable(0), tf.Variable(0.0)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def push():
            f.push("t", tf.sqrt(z), index=tf.cast(5 // k, tf.int64), size=4)
            return z * 1.0

        select = lambda: tf.cond(10 // k > 3, lambda: z, lambda: -z)  # noqa: E731
        other = lambda: tf.cond(k > 0, push, lambda: 2.0 * z)  # noqa: E731
        f.output(tf.cond(n > 5, select, other))
    found = gradient(lambda: f.map([0, 2], with_pushed=True)[0], z)
    assert_gives(found, [0.0, 0.0], 4.0)


def test_a_looked_up_row_of_a_capture_has_its_gradient_where_the_branch_is_taken():
    k, embedding = tf.Variable(1), tf.Variable(tf.ones([3, 2]))
    with rtf.SubGraph("f") as f:
        x = f.input(tf.TensorSpec([2]))
        f.output(tf.cond(x[0] > 0.0, lambda: tf.gather(embedding, k) * x, lambda: x))
    rows = tf.constant([[1.0, 2.0], [-3.0, 4.0]])
    found = gradient(lambda: f.map(rows), embedding)
    assert_gives(found, rows, [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])


def test_a_branch_of_nothing_but_constants_decides_by_one():
    number = lambda value: tf.constant(value, tf.float64)  # noqa: E731
    inner = lambda: tf.cond(  # noqa: E731
        tf.constant(False), lambda: tf.tanh(number(1.0)), lambda: number(2.0)
    )
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n > 0, lambda: tf.identity(number(3.0)), inner))
    np.testing.assert_array_equal(f.map([1, 0, 2]), [3.0, 2.0, 3.0])


def test_a_lookup_in_a_variable_may_stand_behind_a_condition_of_captures():
    k, w = tf.Variable(0), tf.Variable([1.0, 2.0, 4.0])
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        lookup = lambda: tf.gather(w, 2 // k)  # noqa: E731
        last = lambda: x * tf.cond(k > 0, lookup, lambda: w[0])  # noqa: E731
        f.output(tf.cond(n > 0, lambda: f(n - 1, x + 1.0), last))

    def both():
        return f.map([0, 1], [1.0, 2.0])

    assert_gives(gradient(both, w), [1.0, 3.0], [4.0, 0.0, 0.0])
    k.assign(1)
    assert_gives(gradient(both, w), [4.0, 12.0], [0.0, 0.0, 4.0])


def test_an_effect_behind_a_condition_of_captures_is_of_who_makes_it(capfd):
    k = tf.Variable(1)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def told():
            tf.print("at", n)
            return n

        told_or_not = lambda: tf.cond(k > 0, told, lambda: -n)  # noqa: E731
        f.output(tf.cond(n > 2, told_or_not, lambda: n))
    np.testing.assert_array_equal(f.map([1, 3, 4]), [1, 3, 4])
    assert sorted(capfd.readouterr().err.splitlines()) == ["at 3", "at 4"]
    k.assign(0)
    np.testing.assert_array_equal(f.map([1, 3, 4]), [1, -3, -4])
    assert not capfd.readouterr().err


def test_what_fails_in_a_branch_that_is_taken_says_where():
    k = tf.Variable(0)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n > 1, lambda: f(n - 1), lambda: n + 10 // k))
    with pytest.raises(tf.errors.InvalidArgumentError, match="f → call#0 → call#0"):
        f(3)
