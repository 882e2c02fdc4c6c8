"""A failing invocation is reported with its path, and disturbs no other step."""

import re
import threading
import time

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of, message_of
from tests.helpers.subgraphs import define_fragile_walk, one_unless

pytestmark = pytest.mark.every_executor


@pytest.mark.parametrize(
    ("node", "path"),
    [
        (1, "walk"),
        (2, "walk → call#0"),
        (6, "walk → call#1 → call#0"),
        (11, "walk → call#0 → call#1 → call#1"),
    ],
)
def test_an_error_names_the_subgraph_and_the_path(node, path):
    line = failure_of(lambda: define_fragile_walk(fails_at=node)(1))
    assert line.startswith(f"SubGraph 'walk' failed at {path}: ")


def test_an_error_carries_the_message_of_the_op():
    assert "a bad node" in message_of(
        lambda: define_fragile_walk(fails_at=6)(1), tf.errors.InvalidArgumentError
    )


def test_an_error_is_reported_once():
    message = message_of(
        lambda: define_fragile_walk(fails_at=6)(1), tf.errors.InvalidArgumentError
    )
    assert message.count("failed at") == 1


def test_many_errors_at_once_are_one():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        more = lambda: f(n - 1) + f(n - 1) + f(n - 1)  # noqa: E731
        f.output(one_unless(n < 1) * tf.cond(n < 1, lambda: n, more))
    assert re.search(r"failed at f( → call#[012]){4}[:,]", failure_of(lambda: f(4)))


def test_an_error_in_a_map_names_the_row():
    line = failure_of(lambda: define_fragile_walk(fails_at=6).map([4, 5, 3]))
    assert line.startswith("SubGraph 'walk' failed at walk[row ")
    assert "walk[row 2] → call#0" in line


def test_an_error_names_the_subgraphs_on_the_path():
    walk = define_fragile_walk(fails_at=6)
    with rtf.SubGraph("caller") as caller:
        caller.output(walk(caller.input(tf.int32)))
    line = failure_of(lambda: caller(1))
    path = "caller → call#0 (walk) → call#1 → call#0"
    assert line.startswith("SubGraph 'walk' failed at caller → call#0 (walk) → ")
    assert path in line


def test_an_error_in_a_function_names_the_path():
    walk = define_fragile_walk(fails_at=6)
    run = tf.function(lambda n: walk(n))
    line = failure_of(lambda: run(1))
    assert line.startswith("SubGraph 'walk' failed at walk → ")
    assert "walk → call#1 → call#0" in line


def test_the_kind_of_an_error_is_the_ops_own():
    with rtf.SubGraph("f") as f:
        f.output(tf.gather([1, 2], f.input(tf.int32)))
    assert "is not in [0, 2)" in message_of(
        lambda: f(7), tf.errors.InvalidArgumentError
    )


@pytest.mark.falls_back("a Python function")
def test_the_kind_of_an_error_of_python_is_that_of_tensorflow():
    with rtf.SubGraph("g") as g:
        n = g.input(tf.int32)
        g.output(tf.numpy_function(lambda n: [].pop(), [n], tf.int32))
    assert "pop from empty list" in message_of(lambda: g(7), tf.errors.UnknownError)


def test_a_call_after_a_failure_works():
    walk = define_fragile_walk(fails_at=6)
    message_of(lambda: walk(1), tf.errors.InvalidArgumentError)
    assert int(walk(4)) == 2
    message_of(lambda: walk(1), tf.errors.InvalidArgumentError)
    assert int(walk(5)) == 2


@pytest.mark.falls_back("a Python function")
def test_a_failure_stops_the_invocations_in_flight():
    started = []

    def start(n):
        started.append(n)
        time.sleep(0.001)
        return n

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        m = tf.ensure_shape(tf.numpy_function(start, [n], tf.int32), [])
        tf.debugging.assert_none_equal(m, 15, message="a bad node")
        f.output(tf.cond(m < 1, lambda: m, lambda: f(m - 1) + f(m - 2)))
    message_of(lambda: f(20), tf.errors.InvalidArgumentError)
    at_the_end = len(started)
    time.sleep(0.1)
    assert len(started) == at_the_end < 1000


def test_a_failure_of_one_step_does_not_disturb_another():
    walk, results = define_fragile_walk(fails_at=6), []

    def run(root):
        for _ in range(20):
            try:
                results.append((root, int(walk(root))))
            except tf.errors.InvalidArgumentError:
                results.append((root, "failed"))

    threads = [threading.Thread(target=run, args=(root,)) for root in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results, key=str) == [(1, "failed")] * 20 + [(2, 4)] * 20
