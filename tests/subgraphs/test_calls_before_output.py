"""A call before `.output`: a sibling shows what it returns, or it is asked for."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.values import Pair


def define_sum(conditional, output_signature=None):
    """Returns a SubGraph that adds up n, n - 1, ..., 1.

    Args:
        conditional: Of a number and two functions: for 0, and for more.
        output_signature: Of the SubGraph.
    """
    with rtf.SubGraph("sum", output_signature=output_signature) as add_up:
        n = add_up.input(tf.int32)
        add_up.output(conditional(n, lambda: 0, lambda: n + add_up(n - 1)))
    return add_up


# --- Siblings that show it


CONDITIONALS = {
    "base first": lambda n, base, more: tf.cond(n < 1, base, more),
    "base last": lambda n, base, more: tf.cond(n > 0, more, base),
    "switch, base first": lambda n, base, more: tf.switch_case(
        tf.minimum(n, 2), [base, more, more]
    ),
    "switch, base in the middle": lambda n, base, more: tf.switch_case(
        tf.clip_by_value(1 - n, -1, 1) + 1, [more, more, base]
    ),
    "switch, base last": lambda n, base, more: tf.switch_case(
        tf.cast(n < 1, tf.int32), [more, base]
    ),
    "switch, base by default": lambda n, base, more: tf.switch_case(
        n - 1, [more] * 6, default=base
    ),
    "base around a conditional": lambda n, base, more: tf.cond(
        n < 1, base, lambda: tf.cond(n < 3, more, more)
    ),
    "base around a conditional, last": lambda n, base, more: tf.cond(
        n > 0, lambda: tf.cond(n < 3, more, more), base
    ),
    "base within a sibling": lambda n, base, more: tf.cond(
        n > 3, more, lambda: tf.cond(n < 1, base, more)
    ),
    "base at the end of a sibling": lambda n, base, more: tf.cond(
        n > 3, more, lambda: tf.cond(n > 0, more, base)
    ),
    "case, base last": lambda n, base, more: tf.case(
        [(n > 4, more), (n > 2, more), (n > 0, more)], default=base
    ),
    "switch in a cond": lambda n, base, more: tf.cond(
        n > 3, more, lambda: tf.switch_case(n, [base, more, more, more])
    ),
    "cond in a switch": lambda n, base, more: tf.switch_case(
        n // 4, [lambda: tf.cond(n > 0, more, base), more]
    ),
    "four levels down": lambda n, base, more: tf.cond(
        n > 4,
        more,
        lambda: tf.cond(
            n > 3,
            more,
            lambda: tf.cond(n > 2, more, lambda: tf.cond(n > 0, more, base)),
        ),
    ),
}


@pytest.mark.parametrize("conditional", CONDITIONALS.values(), ids=CONDITIONALS)
def test_a_sibling_shows_what_a_call_returns(conditional):
    add_up = define_sum(conditional)
    assert [int(add_up(n)) for n in range(6)] == [0, 1, 3, 6, 10, 15]


@pytest.mark.parametrize("conditional", CONDITIONALS.values(), ids=CONDITIONALS)
def test_a_sibling_shows_it_within_a_function(conditional):
    run = tf.function(lambda n: define_sum(conditional)(n))
    assert int(run(5)) == 15


@pytest.mark.parametrize("base_first", [True, False])
def test_a_sibling_shows_the_structure(base_first):
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def base():
            return {"pair": Pair(n, (tf.zeros([2]), "leaf")), "n": 1.5}

        def more():
            below = f(n - 1)
            state, text = below["pair"].right
            return {"pair": Pair(n, (state + 1, text)), "n": below["n"]}

        is_base = n < 1
        f.output(
            tf.cond(is_base, base, more)
            if base_first
            else tf.cond(tf.logical_not(is_base), more, base)
        )
    found = f(3)
    assert found["pair"].right[0].numpy().tolist() == [3, 3]
    assert found["pair"].right[1].numpy() == b"leaf"


def test_a_sibling_that_is_traced_on_trial_leaves_nothing_in_the_body():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def base():
            f.push("leaves", n, index=0, size=1)
            return n

        f.output(tf.cond(n > 0, lambda: f(n - 1), base))
    _, pushed = f(3, with_pushed=True)
    assert pushed["leaves"].numpy().tolist() == [0]


def test_what_a_sibling_showed_holds_for_later_calls():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        first = tf.cond(n < 1, lambda: 0, lambda: 1 + f(n - 1))
        f.output(first + tf.cond(n < 1, lambda: f(n), lambda: 0) * 0)
    assert repr(f) == "<SubGraph 'f' (int32[]) -> int32[]>"


def test_a_conditional_around_the_definition_is_not_needed():
    @tf.function
    def run(n):
        return tf.cond(
            n > 100,
            lambda: define_sum(CONDITIONALS["base last"])(n),
            lambda: define_sum(CONDITIONALS["base first"])(n),
        )

    assert int(run(tf.constant(5))) == 15


def test_a_sibling_of_a_conditional_around_the_definition_shows_nothing():
    @tf.function
    def run(n):
        def define():
            with rtf.SubGraph("f") as f:
                m = f.input(tf.int32)
                f.output(tf.where(m < 1, m, f(m - 1)))
            return f(n)

        return tf.cond(n > 5, lambda: tf.constant(1.5), define)

    message = message_of(lambda: run(tf.constant(3)))
    assert "SubGraph 'f' is called before `.output`" in message


def run_with_an_if_statement(n, output_signature):
    @tf.function
    def run(n):
        with rtf.SubGraph("fib", output_signature=output_signature) as fib:
            m = fib.input(tf.int32)
            found = m
            if m > 1:
                found = fib(m - 1) + fib(m - 2)
            fib.output(found)
        return fib(n)

    return run(tf.constant(n))


def test_an_if_statement_in_a_body_works_with_a_signature():
    assert int(run_with_an_if_statement(10, tf.int32)) == 55


def test_an_if_statement_in_a_body_shows_nothing():
    message = message_of(lambda: run_with_an_if_statement(10, None))
    assert "SubGraph 'fib' is called before `.output`" in message
    assert "output_signature=" in message


# --- Where nothing shows it


def define_unconditional(output_signature=None):
    with rtf.SubGraph("f", output_signature=output_signature) as f:
        n = f.input(tf.int32)
        below = f(n - 1)
        f.output(tf.where(n < 1, n, below))


def test_a_call_outside_of_conditionals_asks_for_a_signature():
    message = message_of(define_unconditional)
    assert "SubGraph 'f' is called before `.output`" in message
    assert 'SubGraph("f", output_signature=' in message


def test_the_line_that_asks_for_a_signature_is_python():
    line = re.search(r"SubGraph\(.*$", message_of(define_unconditional)).group(0)
    assert isinstance(eval(f"rtf.{line}", {"rtf": rtf, "tf": tf}), rtf.SubGraph)


def test_a_signature_is_enough_where_nothing_shows_it():
    define_unconditional(tf.int32)


def test_a_conditional_that_calls_in_every_branch_asks_for_a_signature():
    def always(n, base, more):
        del base
        return tf.cond(n > 3, more, lambda: tf.cond(n > 2, more, more))

    assert "output_signature=" in message_of(lambda: define_sum(always))


def test_a_definition_that_failed_leaves_nothing_behind():
    message_of(define_unconditional)
    assert int(define_sum(CONDITIONALS["base last"])(4)) == 10


def test_an_error_of_a_sibling_on_trial_is_the_users_own():
    def define():
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            wrong = lambda: tf.zeros([2]) + tf.zeros([3])  # noqa: E731
            f.output(tf.cond(n > 0, lambda: f(n - 1), wrong))

    assert "Dimensions must be equal" in message_of(define, ValueError)
