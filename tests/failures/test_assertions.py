"""Assertions, checks of numbers and prints in bodies: batched, and told by row."""

import re

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

EXECUTORS = ("dataflow", "batched")
BOTH = pytest.mark.parametrize("executor_name", EXECUTORS)


def walk(check, executor):
    """Returns k -> checks k, k + 1, ..., 5, one invocation after the other."""
    with rtf.SubGraph(
        "walk", executor=executor, output_signature=tf.TensorSpec([])
    ) as f:
        k = f.input(tf.int32)

        def more():
            return f(k + 1)

        check(k)
        f.output(tf.cond(k >= 5, lambda: tf.constant(1.0), more))
    return f


def error_of(call):
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        call()
    return str(raised.value)


def sentence_of(text):
    """Returns which SubGraph failed, where, and why."""
    return re.search(r"SubGraph '.*", text).group()


def count(k):
    """Returns 0, 1, ..., k - 1."""
    return tf.range(tf.maximum(k, 0))


ASSERTIONS = {
    "of integers": lambda k: tf.debugging.assert_less(k, 4, message="too deep"),
    "of floats": lambda k: tf.debugging.assert_less(
        tf.cast(k, tf.float32), 3.5, message="too deep"
    ),
    "of vectors": lambda k: tf.debugging.assert_none_equal(
        tf.range(3) + k, 6, summarize=2
    ),
    "with a text": lambda k: tf.debugging.Assert(k < 4, ["k is", k, "of", "4"]),
    "of a list": lambda k: tf.debugging.assert_less(count(k), 4, message="long"),
    "of a list of vectors": lambda k: tf.debugging.assert_less(
        count(k)[:, None] + tf.range(2), 5, summarize=20
    ),
    "with lists": lambda k: tf.debugging.Assert(
        k < 4, ["k is", k, count(k), 0.5 * tf.cast(count(k), tf.float32)]
    ),
    "without data": lambda k: tf.debugging.Assert(k < 4, [k]),
}


@pytest.mark.parametrize("check", ASSERTIONS.values(), ids=ASSERTIONS)
def test_an_assertion_names_the_invocation_and_shows_its_values(check):
    found = []
    for name in EXECUTORS:
        f = walk(check, name)
        found.append(sentence_of(error_of(lambda f=f: f.map(tf.constant([9, 1, 7])))))
    one, other = found
    assert one == other


@pytest.mark.parametrize("check", ASSERTIONS.values(), ids=ASSERTIONS)
@BOTH
def test_an_assertion_that_holds_does_nothing(check, executor_name):
    f = walk(lambda k: check(k - 100), executor_name)
    np.testing.assert_array_equal(f.map(tf.constant([3, 1, 4])), [1, 1, 1])


@BOTH
def test_an_assertion_in_a_branch_is_of_who_takes_it(executor_name):
    with rtf.SubGraph("f", executor=executor_name) as f:
        x = f.input(tf.float32)

        def positive():
            tf.debugging.assert_less(x, 2.0)
            return tf.sqrt(x)

        f.output(tf.cond(x > 0.0, positive, lambda: x))
    np.testing.assert_allclose(f.map(tf.constant([-9.0, 1.0])), [-9.0, 1.0])
    assert "f[row 2]" in error_of(lambda: f.map(tf.constant([-9.0, 1.0, 4.0])))


@BOTH
def test_an_assertion_of_what_all_share_is_of_who_makes_it(executor_name):
    limit = tf.Variable(1.0)
    with rtf.SubGraph("f", executor=executor_name) as f:
        x = f.input(tf.float32)

        def checked():
            tf.debugging.assert_positive(limit)
            return x

        f.output(tf.cond(x > 0.0, checked, lambda: x))
    rows = tf.constant([-1.0, 3.0])
    np.testing.assert_allclose(f.map(rows), rows)
    limit.assign(-1.0)
    np.testing.assert_allclose(f.map(-tf.abs(rows)), -np.abs(rows))
    assert "f[row 1]" in error_of(lambda: f.map(rows))


@BOTH
def test_an_assertion_ends_a_recursion_that_would_not_end(executor_name):
    number = tf.TensorSpec([])
    with rtf.SubGraph("f", executor=executor_name, output_signature=number) as f:
        k = f.input(tf.int32)
        tf.debugging.assert_less(k, 20)
        f.output(tf.cond(k < 0, lambda: 0.0, lambda: f(k + 1)))
    assert "[20]" in sentence_of(error_of(lambda: f(0)))


@BOTH
def test_an_assertion_in_a_loop(executor_name):
    with rtf.SubGraph("f", executor=executor_name) as f:
        x = f.input(tf.int32)

        def turn(i, y):
            tf.debugging.assert_less(y, 10)
            return i + 1, y + 3

        f.output(tf.while_loop(lambda i, _: i < 3, turn, (0, x))[1])
    np.testing.assert_array_equal(f.map([0, 1]), [9, 10])
    assert "f[row 1]" in error_of(lambda: f.map([0, 9]))


@BOTH
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.float16, tf.float64])
def test_numbers_are_checked(executor_name, dtype):
    with rtf.SubGraph("f", executor=executor_name) as f:
        x = f.input(tf.TensorSpec([2], dtype))
        f.output(tf.debugging.check_numerics(1.0 / x, "of it") * 2.0)
    good = tf.constant([[1.0, 2.0], [4.0, 8.0]], dtype)
    np.testing.assert_allclose(
        tf.cast(f.map(good), tf.float32), 2.0 / np.array([[1.0, 2.0], [4.0, 8.0]])
    )
    text = error_of(lambda: f.map(tf.constant([[1.0, 2.0], [1.0, 0.0]], dtype)))
    assert "f[row 1]: " in text
    assert "of it : Tensor had Inf values" in text


@BOTH
def test_a_check_of_numbers_that_nobody_reads_is_made(executor_name):
    with rtf.SubGraph("f", executor=executor_name) as f:
        x = f.input(tf.float32)
        tf.debugging.check_numerics(tf.math.log(x), "log")
        f.output(x)
    np.testing.assert_allclose(f.map([1.0, 2.0]), [1.0, 2.0])
    assert "log : Tensor had NaN values" in error_of(lambda: f.map([1.0, -1.0]))


@BOTH
def test_gradients_are_checked_too(executor_name):
    with rtf.SubGraph("f", executor=executor_name) as f:
        x = f.input(tf.float32)
        f.output(tf.sqrt(tf.debugging.check_numerics(x, "of x")))

    def gradient(values):
        rows = tf.constant(values)
        with tf.GradientTape() as tape:
            tape.watch(rows)
            y = f.map(rows)
        return tape.gradient(y, rows)

    np.testing.assert_allclose(gradient([4.0, 1.0]), [0.25, 0.5])
    text = error_of(lambda: gradient([1.0, 0.0]))
    assert re.search(r"detected in gradient\. .*of x.* : Tensor had Inf", text)


@BOTH
def test_programs_with_assertions_are_differentiated(executor_name):
    w = tf.Variable(2.0)
    with rtf.SubGraph("power", executor=executor_name) as power:
        x, n = power.input(tf.float32), power.input(tf.int32)
        tf.debugging.assert_less(x, 100.0)
        power.output(tf.cond(n < 1, lambda: x, lambda: power(x, n - 1) * w))
    with tf.GradientTape() as tape:
        y = power(3.0, 3)
    np.testing.assert_allclose(tape.gradient(y, w), 3 * 3 * 4)
    with tf.GradientTape(), pytest.raises(tf.errors.InvalidArgumentError):
        power(300.0, 3)


@BOTH
def test_a_program_with_an_assertion_alone(executor_name):
    with rtf.SubGraph("f", executor=executor_name) as f:
        x = f.input(tf.int32)
        tf.cond(x > 3, lambda: tf.debugging.assert_less(x, 9), tf.no_op)
        f.output(x)
    np.testing.assert_array_equal(f.map([1, 8]), [1, 8])
    assert "f[row 1]" in error_of(lambda: f.map([1, 9]))


def printed(capfd, call):
    capfd.readouterr()
    call()
    return capfd.readouterr().err.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        lambda x, t: tf.print("x is", x, "of", t),
        lambda x, t: tf.print(x, summarize=1),
        lambda x, t: tf.print({"x": x, "t": t}, [t], sep="|", end="<\n"),
        lambda x, t: tf.print(tf.strings.format("{} and {}", (x, t))),
        lambda x, t: tf.print("hello"),
        lambda x, t: tf.print(t, tf.range(tf.cast(x[0], tf.int32)), x),
        lambda x, t: tf.print(
            tf.strings.format("{}", tf.range(tf.cast(x[1], tf.int32)))
        ),
    ],
)
def test_each_activation_prints_its_line(line, capfd):
    lines = []
    for name in EXECUTORS:
        with rtf.SubGraph("f", executor=name) as f:
            x, t = f.input(tf.TensorSpec([3])), f.input(tf.string)
            line(x, t)
            f.output(tf.reduce_sum(x))
        rows = tf.reshape(tf.range(6.0), [2, 3])
        lines.append(printed(capfd, lambda f=f, r=rows: f.map(r, ["a", "b"])))
    one, other = map(sorted, lines)
    assert one == other
    assert len(one) == 2


def test_prints_of_one_activation_keep_their_order(capfd):
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.int32)
        tf.print("first", n)
        tf.print("second", n)
        rest = tf.cond(n < 1, lambda: 0, lambda: f(n - 1))
        tf.print("third", n)
        f.output(rest)
    expected = ["first 1", "second 1", "third 1", "first 0", "second 0", "third 0"]
    assert sorted(printed(capfd, lambda: f(1))) == sorted(expected)
    lines = printed(capfd, lambda: f(0))
    assert lines == ["first 0", "second 0", "third 0"]
