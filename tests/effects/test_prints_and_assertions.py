"""Prints and assertions in bodies happen, for each invocation."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.unrolled import define_repeat

pytestmark = pytest.mark.every_executor


# --- Prints


def test_prints_of_every_invocation_happen(tmp_path):
    path = tmp_path / "printed"

    def step(x, n):
        tf.print(n, output_stream=f"file://{path}")
        return x

    define_repeat(step)(4, 0.0)
    assert sorted(path.read_text().split()) == ["1", "2", "3", "4"]


@pytest.mark.executor("dataflow")
def test_prints_of_one_program_keep_their_order(tmp_path):
    path = tmp_path / "printed"
    with rtf.SubGraph("walk", output_signature=tf.int32) as walk:
        n = walk.input(tf.int32)

        def children():
            walk(2 * n)
            walk(2 * n + 1)
            return n

        tf.print(n, output_stream=f"file://{path}")
        walk.output(tf.cond(n > 3, lambda: n, children))
    walk(1)
    assert path.read_text().split() == ["1", "2", "4", "5", "3", "6", "7"]


def test_prints_reach_standard_error(capfd):
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        tf.print("node", n)
        f.output(n)
    f(42)
    assert "node 42" in capfd.readouterr().err


# --- Assertions


def define_checked(limit):
    with rtf.SubGraph("checked") as checked:
        n = checked.input(tf.int32)
        tf.debugging.assert_less(n, limit, message="too large")
        checked.output(n)
    return checked


def test_an_assertion_in_a_body_runs():
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        define_checked(limit=3)(3)


def test_an_assertion_that_holds_does_not_disturb():
    assert int(define_checked(limit=3)(2)) == 2


def test_an_assertion_runs_where_nobody_uses_the_result_of_its_call():
    checked = define_checked(limit=3)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        checked(n)
        f.output(n)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        f(3)


def test_an_assertion_runs_where_nobody_uses_the_result_of_the_root_call():
    checked = define_checked(limit=3)

    @tf.function
    def run(n):
        checked(n)
        return n

    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        run(3)


def test_an_assertion_in_a_branch_runs_if_it_is_taken():
    def step(x, n):
        def check():
            tf.debugging.assert_greater(x, 0.0, message="negative")
            return x

        return tf.cond(n > 2, check, lambda: x - 1)

    repeat = define_repeat(step)
    assert float(repeat(2, 1.0)) == -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        repeat(3, 1.0)
