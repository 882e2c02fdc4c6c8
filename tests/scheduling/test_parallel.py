"""`rtf.parallel` computes what TensorFlow does, on teams of threads."""

import json
import threading

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation  # noqa: TID251

import recursive_tf as rtf
from recursive_tf.ops import library
from tests.helpers.subgraphs import define_fib

SCHEDULES = [
    rtf.Schedule(1, 1),
    rtf.Schedule(1, 2),
    rtf.Schedule(2, 1),
    rtf.Schedule(2, 1, "first_come"),
    rtf.Schedule(3, 2, pinned=False),
]
# More than executors measure, so that the levels of measured times hold as well.
RUNS = 12
SIDE = 96


@pytest.fixture(params=SCHEDULES, ids=lambda schedule: schedule.attribute())
def schedule(request):
    return request.param


def matrix(seed):
    return tf.random.stateless_normal([SIDE, SIDE], [seed, 1]) / SIDE**0.5


def assert_same(function, schedule, *args):
    """Each of several runs gives what the function itself does."""
    expected = tf.nest.flatten(function(*args))
    scheduled = rtf.parallel(function, schedule)
    for _ in range(RUNS):
        found = tf.nest.flatten(scheduled(*args))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)


def test_branches_and_their_sum(schedule):
    @tf.function
    def branches(x):
        ways = [tf.tanh(x @ matrix(i)) @ matrix(i + 8) for i in range(8)]
        return tf.add_n(ways), tf.reduce_sum(ways[3])

    assert_same(branches, schedule, matrix(0))


def test_training_changes_variables_as_often_as_it_is_called(schedule):
    kernel = tf.Variable(matrix(2))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(x @ kernel) ** 2)
        kernel.assign_sub(0.01 * tape.gradient(loss, kernel))
        return loss

    def losses(step):
        kernel.assign(matrix(2))
        return [float(step(matrix(1))) for _ in range(RUNS)]

    expected = losses(step)
    assert expected[0] > 1.1 * expected[-1]
    np.testing.assert_allclose(losses(rtf.parallel(step, schedule)), expected, 1e-4)


def test_loops_and_conditionals(schedule):
    @tf.function
    def loop(x, turns):
        def turn(i, x):
            x = tf.cond(i % 2 == 0, lambda: tf.tanh(x @ x), lambda: x + matrix(3))
            return i + 1, x

        return tf.while_loop(lambda i, x: i < turns, turn, [0, x])

    assert_same(loop, schedule, matrix(0), tf.constant(7))


def test_functions_that_python_runs_may_wait_for_operations(schedule):
    inner = rtf.parallel(tf.function(lambda x: tf.tanh(x @ x)), schedule)

    @tf.function
    def outer(x):
        # The inner one needs an executor while this one waits for it.
        ways = [tf.py_function(inner, [x + i], tf.float32) for i in range(4)]
        return tf.add_n([tf.ensure_shape(way, [SIDE, SIDE]) @ x for way in ways])

    assert_same(outer, schedule, matrix(0))


def test_random_numbers_go_on_where_they_were(schedule):
    def drawn(wrap):
        tf.random.set_seed(3)

        @tf.function
        def draw():
            return tf.random.uniform([100, 100])

        wrapped = wrap(draw)
        return np.stack([wrapped() for _ in range(RUNS)])

    expected = drawn(lambda draw: draw)
    found = drawn(lambda draw: rtf.parallel(draw, schedule))
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(found)) > 0.9 * found.size


def test_root_calls_in_it(schedule):
    fib = define_fib()

    @tf.function
    def both(n, x):
        return fib(n), tf.reduce_sum(x @ x)

    assert_same(both, schedule, tf.constant(9), matrix(0))


def test_keyword_arguments_and_structures(schedule):
    @tf.function
    def function(x, *, scale):
        return {"a": x["x"] * scale, "b": [x["x"] @ x["x"]]}

    scheduled = rtf.parallel(function, schedule)
    found = scheduled({"x": matrix(0)}, scale=tf.constant(2.0))
    np.testing.assert_allclose(found["a"], 2 * matrix(0))
    assert scheduled.__name__ == function.__name__


def test_an_error_of_an_operation_reaches_the_caller_and_the_next_run_is_right(
    schedule,
):
    @tf.function
    def checked(x):
        tf.debugging.assert_less(tf.reduce_max(tf.abs(x)), 100.0, "too large")
        return tf.add_n([x @ matrix(i) for i in range(6)])

    scheduled = rtf.parallel(checked, schedule)
    for _ in range(RUNS):
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
            scheduled(matrix(0) + 1000.0)
        np.testing.assert_allclose(scheduled(matrix(0)), checked(matrix(0)), 1e-3, 1e-5)


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_kernels_that_check_their_inputs_fail_alone(schedule, fails):
    """TensorFlow ends the process where a kernel fails in an asynchronous op."""
    table = tf.Variable(tf.ones([4, 3]))

    @tf.function
    def checked(rows, size, axis):
        found = [
            tf.gather(table, rows),
            tf.reshape(table, [size, -1]),
            tf.reduce_sum(tf.constant([[1.0]]), axis, keepdims=True),
        ]
        return tf.add_n([tf.reduce_sum(each * 2.0) for each in found])

    scheduled = rtf.parallel(checked, schedule)
    good, bad = (tf.constant([1, 3]), 6, 0), (tf.constant([1, 9]), 5, 4)
    one_is_bad = [bad[i] if i == fails else good[i] for i in range(3)]
    for _ in range(RUNS):
        with pytest.raises(tf.errors.InvalidArgumentError):
            scheduled(*map(tf.constant, one_is_bad))
        found = scheduled(*map(tf.constant, good))
        np.testing.assert_allclose(found, checked(*map(tf.constant, good)))


def test_many_callers_at_once(schedule):
    @tf.function
    def branches(x):
        return tf.add_n([tf.tanh(x @ matrix(i)) for i in range(8)])

    scheduled = rtf.parallel(branches, schedule)
    expected = {seed: branches(matrix(seed)) for seed in range(6)}
    wrong = []

    def call(seed):
        for _ in range(RUNS):
            found = scheduled(matrix(seed))
            if not np.allclose(found, expected[seed], 1e-3, 1e-5):
                wrong.append(seed)

    threads = [threading.Thread(target=call, args=[seed]) for seed in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_cancellation_ends_what_waits(schedule):
    queue = tf.queue.FIFOQueue(1, tf.float32)

    @tf.function
    def waiting(x):
        return tf.add_n([x @ matrix(i) for i in range(6)]) + queue.dequeue()

    concrete = waiting.get_concrete_function(matrix(0))
    cancelling = cancellation.CancellationManager()
    cancelable = cancelling.get_cancelable_function(rtf.parallel(concrete, schedule))
    timer = threading.Timer(0.1, cancelling.start_cancel)
    timer.start()
    with pytest.raises(tf.errors.CancelledError):
        cancelable(matrix(0))
    timer.join()
    queue.enqueue(1.0)
    found = rtf.parallel(concrete, schedule)(matrix(0))
    queue.enqueue(1.0)
    np.testing.assert_allclose(found, waiting(matrix(0)), 1e-3, 1e-5)


def test_keras_trains_with_it(schedule):
    def trained(wrap):
        tf.keras.utils.set_random_seed(4)
        layers = [tf.keras.layers.Dense(SIDE), tf.keras.layers.Dense(1)]
        model = tf.keras.Sequential(layers)
        model.compile("sgd", "mse")
        model.make_train_function()
        model.train_function = wrap(model.train_function)
        x = matrix(0)
        history = model.fit(x, x[:, :1], batch_size=32, epochs=4, verbose=0)
        return history.history["loss"]

    expected = trained(lambda function: function)
    found = trained(lambda function: rtf.parallel(function, schedule))
    np.testing.assert_allclose(found, expected, 1e-4)


def test_tensorflows_own_schedule_is_the_function_itself():
    function = tf.function(lambda x: x)
    assert rtf.parallel(function, rtf.Schedule()) is function


@pytest.mark.parametrize("wrong", [(7, rtf.Schedule(1, 1)), (print, "1x1")])
def test_it_takes_a_function_and_a_schedule(wrong):
    with pytest.raises(TypeError, match=r"takes a function and an rtf\.Schedule"):
        rtf.parallel(*wrong)


def test_in_a_function_that_is_traced_it_says_where_it_belongs():
    inner = rtf.parallel(tf.function(lambda x: x + 1), rtf.Schedule(2, 1))
    with pytest.raises(RuntimeError, match=r"Put rtf\.parallel around"):
        tf.function(inner)(tf.constant(1))


@pytest.mark.parametrize("name", ["", "2x1", "0x1 critical_path pinned", "2x1 a b"])
def test_the_op_takes_schedules_only(name):
    with pytest.raises(tf.errors.InvalidArgumentError, match="is no schedule"):
        library.recursive_team_executor(schedule=name)


def test_a_trace_has_a_row_for_each_executor_and_marks_the_critical_path(tmp_path):
    # So large that each product is worth a team.
    large = tf.random.stateless_normal([400, 400], [1, 2]) / 20

    @tf.function
    def branches(x):
        long = x
        for _ in range(4):
            long = tf.matmul(long, large, name="long")
        return tf.add_n([long] + [x @ (large + i) for i in range(4)])

    scheduled = rtf.parallel(branches, rtf.Schedule(2, 1))
    for _ in range(RUNS):
        scheduled(large)
    path = tmp_path / "trace.json"
    with rtf.trace(path):
        scheduled(large)
    events = json.loads(path.read_text())["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    slices = [e for e in events if e["ph"] == "X"]
    assert {rows[e["tid"]] for e in slices} <= {"executor 0", "executor 1"}
    critical = [e["name"] for e in slices if e["cat"].endswith("critical path")]
    assert {name.partition("_")[0] for name in critical} >= {"long"}
    assert [e for e in slices if "cname" in e] == [
        e for e in slices if e["name"] in critical
    ]
    assert len(critical) < len(slices)
