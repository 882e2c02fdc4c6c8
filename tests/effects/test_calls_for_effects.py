"""Calls whose results nobody uses: what they push, and do, happens."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

pytestmark = pytest.mark.every_executor

W = tf.Variable(2.0)


def define_descent(descend):
    """Returns a SubGraph that pushes 2 n, and whose result is n.

    Args:
        descend: Takes the SubGraph and its input; calls it of n - 1 where n > 0.
    """
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("h", tf.cast(n, tf.float32) * W, index=n, size=4)
        descend(f, n)
        f.output(n)
    return f


def check(f):
    """Checks that all invocations push, also where a gradient is asked for."""

    @tf.function
    def run():
        with tf.GradientTape() as tape:
            result, pushed = f(3, with_pushed=True)
        return result, pushed["h"], tape.gradient(pushed["h"], W)

    result, table, gradient = run()
    assert int(result) == 3
    assert table.numpy().tolist() == [0, 2, 4, 6]
    assert float(gradient) == 6
    results, pushed = f.map([3], with_pushed=True)
    assert results.numpy().tolist() == [3]
    assert pushed["h"].numpy().tolist() == [0, 2, 4, 6]


DESCENTS = {
    "None": lambda f, n: tf.cond(n > 0, lambda: (f(n - 1), None)[1], lambda: None),
    "None first": lambda f, n: tf.cond(
        n < 1, lambda: None, lambda: (f(n - 1), None)[1]
    ),
    "the result of the call": lambda f, n: tf.cond(
        n > 0, lambda: f(n - 1), lambda: None
    ),
    "tf.no_op": lambda f, n: tf.cond(
        n > 0, lambda: (f(n - 1), tf.no_op())[1], tf.no_op
    ),
    "tf.group": lambda f, n: tf.cond(n > 0, lambda: tf.group(f(n - 1)), tf.no_op),
    "tf.group first": lambda f, n: tf.cond(n < 1, tf.group, lambda: tf.group(f(n - 1))),
    "a map": lambda f, n: tf.cond(n > 0, lambda: tf.group(f.map([n - 1])), tf.no_op),
    "tf.switch_case": lambda f, n: tf.switch_case(
        tf.minimum(n, 1), [tf.no_op, lambda: tf.group(f(n - 1))]
    ),
    "tf.switch_case of None": lambda f, n: tf.switch_case(
        tf.minimum(n, 1), [lambda: None, lambda: (f(n - 1), None)[1]]
    ),
    "tf.case": lambda f, n: tf.case(
        [(n > 0, lambda: tf.group(f(n - 1)))], default=tf.no_op
    ),
}


@pytest.mark.parametrize("descend", DESCENTS.values(), ids=DESCENTS)
def test_a_call_in_a_branch_that_returns_nothing_pushes(descend):
    check(define_descent(descend))


def test_a_call_in_an_if_statement_that_assigns_nothing_pushes():
    @tf.function
    def run():
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.push("h", 2 * n, index=n, size=4)
            if n > 0:
                f(n - 1)
            f.output(n)
        return f(3, with_pushed=True)[1]["h"]

    assert run().numpy().tolist() == [0, 2, 4, 6]


@pytest.mark.executor("auto")
def test_a_call_for_its_pushes_in_a_conditional_in_a_loop_pushes():
    def descend(f, n):
        def turn(i):
            tf.cond(n > 0, lambda: tf.group(f(n - 1)), tf.no_op)
            return i + 1

        tf.while_loop(lambda i: i < 1, turn, [0])

    check(define_descent(descend))


def test_a_call_for_its_pushes_of_a_subgraph_that_is_defined_later_pushes():
    other = rtf.SubGraph("other")

    def descend(f, n):
        del f
        tf.cond(n > 0, lambda: tf.group(other(n)), tf.no_op)

    f = define_descent(descend)
    with other:
        n = other.input(tf.int32)
        other.output({"below": f(n - 1), "n": n})
    check(f)


def test_a_sibling_further_out_shows_what_a_call_for_its_pushes_returns():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def more():
            def twice():
                f.push("h", f(n - 1) * 2, index=n, size=4)

            tf.cond(n > 1, twice, lambda: None)
            return n

        f.output(tf.cond(n > 0, more, lambda: 0))
    assert f(3, with_pushed=True)[1]["h"].numpy().tolist() == [0, 0, 2, 4]


@pytest.mark.traces_only
def test_a_sibling_that_calls_too_shows_nothing():
    def descend(f, n):
        more = lambda: tf.group(f(n - 1))  # noqa: E731
        tf.cond(n > 0, more, more)

    message = message_of(lambda: define_descent(descend))
    assert "SubGraph 'f' is called before `.output`" in message


# --- SubGraphs that return nothing


@pytest.mark.parametrize("outputs", [(), (None,)], ids=["no output", "None"])
def test_a_subgraph_may_return_nothing(outputs):
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("h", 2 * n, index=n, size=4)
        tf.cond(n > 0, lambda: f(n - 1), lambda: None)
        f.output(*outputs)
    result, pushed = f(3, with_pushed=True)
    assert result == (outputs[0] if outputs else ())
    assert pushed["h"].numpy().tolist() == [0, 2, 4, 6]


def test_none_may_be_a_part_of_what_is_returned():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        state = tf.cond(n > 0, lambda: f(n - 1), lambda: {"n": n, "none": None})
        f.output({"n": state["n"] + n, "none": state["none"]})
    assert repr(f) == "<SubGraph 'f' (int32[]) -> {n: int32[], none: None}>"
    assert f(3)["none"] is None
    assert f(3)["n"] == 6
    assert f.map([3, 2])["n"].numpy().tolist() == [6, 3]
    assert f.map([3, 2])["none"] is None


def test_the_line_for_none_is_python_that_mends_it():
    def define(output_signature):
        with rtf.SubGraph("f", output_signature=output_signature) as f:
            f.input(tf.int32)
            f.output(None)
        return f

    message = message_of(lambda: define(tf.int32))
    assert "SubGraph 'f' returns None, but its output_signature says" in message
    (line,) = (x for x in message.splitlines() if "output_signature=" in x)
    assert define(eval(line.partition("=")[2]))(3) is None


@pytest.mark.falls_back("an effect")
def test_an_effect_of_a_subgraph_that_returns_nothing_happens():
    count = tf.Variable(0)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        count.assign_add(n)
        tf.cond(n > 0, lambda: f(n - 1), lambda: None)
        f.output()
    f(3)
    assert int(count) == 6
