"""Loops in lock step: a loop that waits turns for each activation as it must."""

import collections

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.batching.interpreter import compilation_of
from tests.helpers.values import as_numpy

ROWS = np.array([0.3, -0.5, 0.7, 0.2], "f")
COUNTS = np.array([0, 1, 3, 5], "i")


def around_a_call(f, n, x, w):
    def turn(i, total):
        return i + 1, total * w + f(n - 1 - i, x + tf.cast(i, tf.float32))

    more = lambda: tf.while_loop(lambda i, _: i < n, turn, (0, x))[1]  # noqa: E731
    return tf.cond(n < 1, lambda: tf.sin(x), more)


def of_the_row(f, n, x, w):
    del f
    return tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, w * y + x), (0, x))[1]


def in_a_loop(f, n, x, w):
    def inner(i, y):
        turn = lambda j, z: (j + 1, z * w + f(j - 9, z))  # noqa: E731
        return tf.while_loop(lambda j, _: j < i, turn, (0, y))[1]

    turn = lambda i, y: (i + 1, inner(i, y) + y)  # noqa: E731
    more = lambda: tf.while_loop(lambda i, _: i < n, turn, (0, x))[1]  # noqa: E731
    return tf.cond(n < 1, lambda: tf.sin(x), more)


def around_a_conditional(f, n, x, w):
    def turn(i, y):
        take = tf.logical_and(y > 0.0, i > 1)
        return i + 1, tf.cond(take, lambda: f(i - 2, y * w), lambda: y + w)

    return tf.while_loop(lambda i, _: i < n, turn, (0, x))[1]


def with_a_call_in_its_condition(f, n, x, w):
    def goes_on(i, y):
        return tf.logical_and(i < n, f(-1, y) < 2.0)

    turn = lambda i, y: (i + 1, y * w + 0.5)  # noqa: E731
    more = lambda: tf.while_loop(goes_on, turn, (0, x))[1]  # noqa: E731
    return tf.cond(n < 0, lambda: tf.square(x), more)


def with_a_call_in_its_condition_that_nobody_needs(f, n, x, w):
    def goes_on(i, y):
        f(-1, y)
        return i < n

    turn = lambda i, y: (i + 1, y * w + f(-1, y))  # noqa: E731
    more = lambda: tf.while_loop(goes_on, turn, (0, x))[1]  # noqa: E731
    return tf.cond(n < 0, lambda: tf.square(x), more)


def over_a_tensor(f, n, x, w):
    parts = tf.TensorArray(tf.float32, 3).unstack(tf.stack([x, w * x, x + w]))

    def turn(i, y):
        return i + 1, y + f(n - 2, parts.read(i)) * parts.read(2 - i)

    more = lambda: tf.while_loop(lambda i, _: i < 3, turn, (0, x))[1]  # noqa: E731
    return tf.cond(n < 2, lambda: tf.sin(x), more)


def writing_a_list(f, n, x, w):
    def turn(i, parts):
        return i + 1, parts.write(i % 3, f(i - 4, x * w))

    def more():
        parts = tf.TensorArray(tf.float32, 3)
        parts = tf.while_loop(lambda i, _: i < n + 3, turn, (0, parts))[1]
        return tf.reduce_sum(parts.stack() * [1.0, w, 2.0]) + parts.read(n % 3)

    return tf.cond(n < 1, lambda: tf.sin(x), more)


def reading_what_it_wrote(f, n, x, w):
    def turn(i, parts):
        y = w * parts.read(i - 1) + parts.read(tf.maximum(i - n, 0))
        return i + 1, parts.write(i, y + f(n - i, x))

    def more():
        parts = tf.TensorArray(tf.float32, 6, clear_after_read=False).write(0, x)
        parts = tf.while_loop(lambda i, _: i < 1 + n % 5, turn, (1, parts))[1]
        return parts.gather([0, n % 5])[1]

    return tf.cond(n < 1, lambda: tf.sin(x), more)


def writing_in_a_branch_and_in_a_loop(f, n, x, w):
    def inner(i, parts):
        turn = lambda j, p: (j + 1, p.write(j, p.read(j) * w + f(j - 2, x)))  # noqa: E731
        return tf.while_loop(lambda j, _: j < i, turn, (0, parts))[1]

    def turn(i, parts):
        write = lambda: parts.write(i, f(-1, x) + w)  # noqa: E731
        return i + 1, inner(i, tf.cond(x > 0.0, write, lambda: parts))

    def more():
        parts = tf.TensorArray(tf.float32, 5, clear_after_read=False)
        parts = parts.unstack(tf.stack([x, w, x * w, 2.0, x]))
        return tf.reduce_sum(
            tf.while_loop(lambda i, _: i < n, turn, (0, parts))[1].stack()
        )

    return tf.cond(n < 1, lambda: tf.sin(x), more)


def over_a_capture(f, n, x, w):
    parts = tf.TensorArray(tf.float32, 3).unstack(tf.stack([w, w * w, w + 1.0]))
    turn = lambda i, y: (i + 1, y * parts.read(i) + f(n - 2, y))  # noqa: E731
    more = lambda: tf.while_loop(lambda i, _: i < 3, turn, (0, x))[1]  # noqa: E731
    return tf.cond(n < 2, lambda: tf.sin(x), more)


def of_many_turns(f, n, x, w):
    del f
    turn = lambda i, y: (i + 1, y + 0.01 * w * tf.cast(n, tf.float32))  # noqa: E731
    return tf.while_loop(lambda i, _: i < 200, turn, (0, x))[1]


def beside_another_call(f, n, x, w):
    turn = lambda i, y: (i + 1, y * w + f(i - 1, x))  # noqa: E731
    loop = lambda: tf.while_loop(lambda i, _: i < n, turn, (0, x))[1]  # noqa: E731
    return tf.cond(n < 1, lambda: tf.sin(x), lambda: loop() + f(n - 2, x * w))


BODIES = [
    around_a_call,
    of_the_row,
    in_a_loop,
    around_a_conditional,
    with_a_call_in_its_condition,
    with_a_call_in_its_condition_that_nobody_needs,
    over_a_tensor,
    writing_a_list,
    reading_what_it_wrote,
    writing_in_a_branch_and_in_a_loop,
    over_a_capture,
    of_many_turns,
    beside_another_call,
]


def run(body, executor, policy="critical_path"):
    """Returns the values of all rows, and the gradients by the rows and by w."""
    w, rows = tf.Variable(0.8), tf.Variable(ROWS)
    f = rtf.SubGraph(
        "f",
        executor=executor,
        options=rtf.Options(policy=policy),
        output_signature=tf.TensorSpec([]),
    )
    with f:
        f.output(body(f, f.input(tf.int32), f.input(tf.float32), w))
    with tf.GradientTape() as tape:
        found = f.map(COUNTS, tf.convert_to_tensor(rows))
        loss = tf.reduce_sum(found**2)
    return as_numpy([found, *tape.gradient(loss, [rows, w])])


@pytest.mark.parametrize("policy", ["critical_path", "agenda", "depth"])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_a_loop_computes_what_the_dataflow_executor_does(body, policy):
    expected = run(body, "dataflow")
    for one, other in zip(run(body, "batched", policy), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


def test_a_loop_computes_what_python_does():
    def oracle(n, x, w):
        if n < 1:
            return np.sin(x)
        total = x
        for i in range(n):
            total = total * w + oracle(n - 1 - i, x + i, w)
        return total

    def loss(rows, w):
        return sum(oracle(n, x, w) ** 2 for n, x in zip(COUNTS, rows, strict=True))

    rows, w, eps = ROWS.astype(np.float64), 0.8, 1e-6
    found, by_rows, by_w = run(around_a_call, "batched")
    expected = [oracle(n, x, w) for n, x in zip(COUNTS, rows, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    slope = (loss(rows, w + eps) - loss(rows, w - eps)) / (2 * eps)
    np.testing.assert_allclose(by_w, slope, rtol=1e-4)
    for i, step in enumerate(np.eye(len(rows)) * eps):
        slope = (loss(rows + step, w) - loss(rows - step, w)) / (2 * eps)
        np.testing.assert_allclose(by_rows[i], slope, rtol=1e-4)


def test_rows_leave_a_loop_when_they_are_done():
    with rtf.SubGraph("collatz", executor="batched") as collatz:
        n = collatz.input(tf.int32)

        def turn(m, steps):
            return tf.where(m % 2 == 0, m // 2, 3 * m + 1), steps + 1

        collatz.output(tf.while_loop(lambda m, _: m > 1, turn, (n, 0))[1])
    explanation = rtf.explain(collatz)
    steps = collatz.map(tf.range(1, 30)).numpy()
    assert steps[26] == 111
    run = explanation.forward
    # The condition once more than the body: 111 turns of the longest row.
    assert sorted(run.launches) == [111, 112]
    assert sorted(run.rows) == [sum(steps), sum(steps) + len(steps)]


def test_what_a_loop_does_not_change_stays_one_matrix():
    w = tf.Variable(tf.eye(4) * 0.5)
    with rtf.SubGraph("f", executor="batched") as f:
        n, x = f.input(tf.int32), f.input(tf.float32, [4])
        turn = lambda i, y: (i + 1, tf.tanh(tf.linalg.matvec(w, y)) + x)  # noqa: E731
        f.output(tf.while_loop(lambda i, _: i < n, turn, (0, x))[1])
    compiled = compilation_of(f)
    types = collections.Counter(
        op.type
        for function in compiled.inference.functions
        for op in function.graph.get_operations()
    )
    assert types["MatMul"] == 1
    assert "BatchMatMulV2" not in types


def test_pushes_in_a_loop_have_gradients():
    with rtf.SubGraph("f", executor="batched") as f:
        x = f.input(tf.float32)

        def turn(i, y):
            f.push("y", y, index=i, size=4)
            return i + 1, y * x

        f.output(tf.while_loop(lambda i, _: i < 4, turn, (0, x))[1])
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, pushed = f(x, with_pushed=True)
        loss = tf.reduce_sum(pushed["y"] * [1.0, 10.0, 100.0, 1000.0])
    assert pushed["y"].numpy().tolist() == [3.0, 9.0, 27.0, 81.0]
    assert tape.gradient(loss, x).numpy() == 1 + 10 * 6 + 100 * 27 + 1000 * 108


LENGTHS = {
    "computed": (
        lambda n: tf.TensorArray(tf.int32, n),
        "the length of its list may differ",
    ),
    "growing": (
        lambda n: tf.TensorArray(tf.int32, 3, dynamic_size=True),
        "do not let it grow",
    ),
}


@pytest.mark.parametrize(("make", "reason"), LENGTHS.values(), ids=LENGTHS)
@pytest.mark.falls_back("that is what it tests")
def test_a_list_of_unlike_lengths_runs_in_the_dataflow_executor(make, reason):
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def turn(i, parts):
            return i + 1, parts.write(i, f(i - 9))

        def more():
            parts = make(n)
            return tf.reduce_sum(
                tf.while_loop(lambda i, _: i < 3, turn, (0, parts))[1].stack()
            )

        f.output(tf.cond(n < 1, lambda: 1, more))
    explanation = rtf.explain(f)
    assert explanation.executor == "dataflow"
    assert reason in explanation.reasons[0]
    assert int(f(3)) == 3


def test_an_error_in_a_loop_has_the_path_of_its_invocation():
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.int32)
        table = tf.constant([1, 2, 3])
        turn = lambda i, y: (i + 1, y + tf.gather(table, i) + f(-1))  # noqa: E731
        loop = lambda: tf.while_loop(lambda i, _: i < n, turn, (0, 0))[1]  # noqa: E731
        f.output(tf.cond(n < 0, lambda: 0, loop))
    assert int(f(3)) == 6
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        f(4)
    assert "SubGraph 'f' failed at f in block 'f/false/loop/turn" in str(error.value)
