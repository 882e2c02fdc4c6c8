"""Decorated functions that are called for what they push, or do."""

import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor


def pushed_by(f):
    return f(3, with_pushed=True)[1]["h"].numpy().tolist()


def test_a_function_that_pushes_may_return_nothing():
    @rtf.subgraph
    def f(n):
        f.push("h", 2 * n, index=n, size=4)
        if n > 0:
            f(n - 1)

    assert f(3) is None
    assert f.map([3]) is None
    assert pushed_by(f) == [0, 2, 4, 6]


def test_a_function_that_pushes_in_a_branch_alone_may_return_nothing():
    @rtf.subgraph
    def f(n):
        if n > 0:
            f.push("h", 2 * n, index=n, size=4)
            f(n - 1)

    assert pushed_by(f) == [0, 2, 4, 6]


def test_a_function_may_call_one_that_returns_nothing():
    @rtf.subgraph
    def note(n):
        note.push("h", 2 * n, index=n, size=4)

    @rtf.subgraph
    def f(n):
        note(n)
        if n > 0:
            f(n - 1)
        return n

    assert pushed_by(f) == [0, 2, 4, 6]


def test_a_part_of_what_is_returned_may_be_none():
    @rtf.subgraph
    def f(n):
        if n > 0:
            f(n - 1)
        return n, None

    assert f(3)[1] is None
    assert f.map([3, 1])[0].numpy().tolist() == [3, 1]


def test_a_call_in_a_switch_that_returns_nothing_pushes():
    @rtf.subgraph
    def f(n):
        f.push("h", 2 * n, index=n, size=4)
        tf.switch_case(tf.minimum(n, 1), [tf.no_op, lambda: tf.group(f(n - 1))])
        return n

    assert pushed_by(f) == [0, 2, 4, 6]


def test_a_call_in_a_loop_pushes_where_an_annotation_says_what_it_returns():
    @rtf.subgraph
    def f(n) -> None:
        f.push("h", 2 * n, index=n, size=4)
        for _ in tf.range(tf.minimum(n, 1)):
            f(n - 1)

    assert pushed_by(f) == [0, 2, 4, 6]


@pytest.mark.traces_only
def test_plain_python_returns_none_too():
    @rtf.subgraph
    def f(n):
        f.push("h", 2 * n, index=n, size=4)
        if n > 0:
            f(n - 1)

    tf.config.run_functions_eagerly(True)
    try:
        assert f.map([1]) is None
        assert pushed_by(f) == [0, 2, 4, 6]
    finally:
        tf.config.run_functions_eagerly(False)
