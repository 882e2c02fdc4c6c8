"""A call before `.output`: what it returns is found, checked, or asked for."""

import re

import numpy as np
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


def pasted_signature(message):
    """Returns the value of the `output_signature=` that a message says to pass."""
    (line,) = re.findall(r"output_signature=(.*)$", message, re.MULTILINE)
    return eval(line, {"tf": tf, "Pair": Pair})


# --- Siblings


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


# --- Checked at `.output`


def define_growing(output_signature=None):
    """Returns a SubGraph whose base case has a shape that the rest has not."""
    with rtf.SubGraph("grow", output_signature=output_signature) as grow:
        n = grow.input(tf.int32)
        more = lambda: tf.concat([grow(n - 1), [n]], 0)  # noqa: E731
        grow.output(tf.cond(n < 1, lambda: tf.zeros([0], tf.int32), more))
    return grow


def test_a_shape_that_a_sibling_shows_wrongly_is_an_error():
    message = message_of(define_growing)
    assert "SubGraph 'grow' returns int32[?]" in message
    assert "took from a sibling branch that it returns int32[0]" in message


@pytest.mark.falls_back("an unknown shape")
def test_the_line_in_the_error_is_python_that_mends_it():
    signature = pasted_signature(message_of(define_growing))
    assert define_growing(signature)(4).numpy().tolist() == [1, 2, 3, 4]


def define_structured(output_signature=None):
    """Returns a SubGraph that returns its base case in a structure."""
    with rtf.SubGraph("f", output_signature=output_signature) as f:
        n = f.input(tf.int32)
        state = tf.cond(n < 1, lambda: tf.ones([2]), lambda: leaf_of(f(n - 1)))
        f.output({"pair": Pair(state, (n,)), "all": [n, n > 0]})
    return f


def leaf_of(structure):
    return structure["pair"].left if isinstance(structure, dict) else structure


def test_a_structure_that_a_sibling_shows_wrongly_is_an_error():
    message = message_of(define_structured)
    assert "returns {pair: (float32[2], (int32[])), all: (int32[], bool[])}" in message


def test_the_line_for_a_structure_is_python_that_mends_it():
    signature = pasted_signature(message_of(define_structured))
    assert define_structured(signature)(3)["pair"].left.numpy().tolist() == [1, 1]


def test_a_dtype_unlike_the_signature_is_an_error():
    def define():
        with rtf.SubGraph("f", output_signature=tf.float32) as f:
            f.output(f.input(tf.int32))

    message = message_of(define)
    assert "SubGraph 'f' returns int32[], but its output_signature says" in message


def test_a_shape_may_be_more_special_than_the_signature():
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([None])) as f:
        f.output(tf.zeros([3]))
    assert f().shape == [3]


def test_a_shape_more_general_than_the_signature_is_an_error():
    def define():
        with rtf.SubGraph("f", output_signature=tf.TensorSpec([3])) as f:
            f.output(f.input(tf.float32, [None]))

    assert pasted_signature(message_of(define)) == tf.TensorSpec([None], tf.float32)


def test_a_signature_may_be_a_structure_of_dtypes():
    with rtf.SubGraph("f", output_signature=(tf.int32, {"x": tf.float32})) as f:
        n = f.input(tf.int32)
        f.output(n, {"x": 0.5})
    assert repr(f) == "<SubGraph 'f' (int32[]) -> (int32[], {x: float32[]})>"


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


# --- Mutual recursion


def define_parity(even_first=True, output_signature=tf.bool):
    """Returns is_even and is_odd, each defined by the other."""
    even = rtf.SubGraph("even", output_signature=output_signature)
    odd = rtf.SubGraph("odd", output_signature=output_signature)

    def define_even():
        with even:
            n = even.input(tf.int32)
            even.output(tf.cond(n < 1, lambda: True, lambda: odd(n - 1)))

    def define_odd():
        with odd:
            n = odd.input(tf.int32)
            odd.output(tf.cond(n > 0, lambda: even(n - 1), lambda: False))

    for define in (
        (define_even, define_odd) if even_first else (define_odd, define_even)
    ):
        define()
    return even, odd


@pytest.mark.parametrize("output_signature", [tf.bool, None], ids=["said", "found"])
@pytest.mark.parametrize("even_first", [True, False])
def test_subgraphs_are_declared_first_and_defined_later(even_first, output_signature):
    even, odd = define_parity(even_first, output_signature)
    assert [bool(even(n)) for n in range(4)] == [True, False, True, False]
    assert [bool(odd(n)) for n in range(4)] == [False, True, False, True]


def test_mutual_recursion_runs_in_a_function():
    @tf.function
    def run(n):
        even, odd = define_parity()
        return even(n), odd(n)

    assert [bool(found) for found in run(7)] == [False, True]


def test_three_subgraphs_call_each_other_in_a_ring():
    ring = [rtf.SubGraph(f"mod_{k}", output_signature=tf.int32) for k in range(3)]

    def define(k):
        with ring[k] as this:
            n = this.input(tf.int32)
            following = ring[(k + 1) % 3]
            this.output(tf.cond(n < 1, lambda: k, lambda: following(n - 1)))

    for k in range(3):
        define(k)
    assert [int(ring[0](n)) for n in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_what_a_later_definition_returns_is_checked_against_calls_before():
    other = rtf.SubGraph("other")
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: 1.5, lambda: other(n - 1)))

    def define():
        with other:
            other.output(other.input(tf.int32))

    assert "'other' returns int32[], but a call" in message_of(define)


# --- Definitions inside of bodies


def test_a_subgraph_defined_in_a_body_uses_the_bodys_tensors():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: 0, lambda: n + inner(k - 1)))
        outer.output(inner(4))
    assert int(outer(10)) == 40


def test_a_subgraph_defined_in_a_branch_uses_the_branchs_tensors():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)

        def large():
            double = 2 * n
            with rtf.SubGraph("inner") as inner:
                k = inner.input(tf.int32)
                inner.output(tf.cond(k < 1, lambda: 0, lambda: double + inner(k - 1)))
            return inner(n)

        outer.output(tf.cond(n > 2, large, lambda: n))
    assert [int(outer(n)) for n in (2, 3)] == [2, 18]


def test_every_invocation_has_its_own_local_tensors():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("add_n") as add_n:
            add_n.output(n + add_n.input(tf.int32))
        outer.output(tf.cond(n < 1, lambda: 0, lambda: add_n(10 * outer(n - 1))))
    assert int(outer(4)) == 1234


def test_local_tensors_of_two_levels_reach_the_innermost_subgraph():
    with rtf.SubGraph("a") as a:
        x = a.input(tf.int32)
        with rtf.SubGraph("b") as b:
            y = b.input(tf.int32)
            with rtf.SubGraph("c") as c:
                z = c.input(tf.int32)
                end = lambda: 100 * x + 10 * y  # noqa: E731
                c.output(tf.cond(z < 1, end, lambda: 1 + c(z - 1)))
            b.output(c(3))
        a.output(b(2))
    assert int(a(1)) == 123


def test_a_sibling_procedure_passes_local_tensors_on():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("uses_n") as uses_n:
            uses_n.output(n * uses_n.input(tf.int32))
        with rtf.SubGraph("calls_it") as calls_it:
            calls_it.output(1 + uses_n(calls_it.input(tf.int32)))
        outer.output(calls_it(5))
    assert int(outer(10)) == 51


def test_local_tensors_pass_through_mutual_recursion():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        ping = rtf.SubGraph("ping", output_signature=tf.int32)
        pong = rtf.SubGraph("pong", output_signature=tf.int32)
        with ping:
            k = ping.input(tf.int32)
            ping.output(tf.cond(k < 1, lambda: 0, lambda: 1 + pong(k - 1)))
        with pong:
            k = pong.input(tf.int32)
            pong.output(tf.cond(k < 1, lambda: 0, lambda: n + ping(k - 1)))
        outer.output(ping(5))
    assert int(outer(10)) == 1 + 10 + 1 + 10 + 1


def test_a_subgraph_defined_in_a_body_calls_the_body_around_it():
    with rtf.SubGraph("outer", output_signature=tf.int32) as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: 0, lambda: n + outer(k - 1)))
        outer.output(tf.cond(n < 1, lambda: 0, lambda: inner(n)))
    assert int(outer(6)) == 6 + 5 + 4 + 3 + 2 + 1


def test_a_local_tensor_is_passed_from_within_a_branch():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        local = n * n
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: local, lambda: inner(k - 1)))
        deep = lambda: tf.cond(n < 3, lambda: 0, lambda: inner(2))  # noqa: E731
        outer.output(tf.cond(n < 5, deep, lambda: 1))

    assert int(outer(4)) == 16


def test_a_local_tensor_is_passed_from_within_a_loop():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            inner.output(n * inner.input(tf.int32))
        step = lambda k, s: (k + 1, s + inner(k))  # noqa: E731
        outer.output(tf.while_loop(lambda k, _: k < n, step, (0, 0))[1])
    assert int(outer(4)) == 4 * (1 + 2 + 3)


def test_local_tensors_of_every_dtype_are_passed():
    with rtf.SubGraph("outer") as outer:
        values = outer.input((tf.string, tf.float32, tf.bool))
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: values, lambda: inner(k - 1)))
        outer.output(inner(2))
    found = outer((b"leaf", 1.5, True))
    assert [x.numpy() for x in found] == [b"leaf", 1.5, True]


def test_a_subgraph_defined_in_a_body_maps_over_many_roots():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: 0, lambda: n + inner(k - 1)))
        outer.output(inner(n))
    np.testing.assert_array_equal(outer.map(tf.range(50)), np.arange(50) ** 2)


def test_a_subgraph_defined_in_a_loop_uses_the_loops_variables():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)

        def step(k, total):
            with rtf.SubGraph("inner") as inner:
                m = inner.input(tf.int32)
                inner.output(tf.cond(m < 1, lambda: 0, lambda: k + inner(m - 1)))
            return k + 1, total + inner(k)

        outer.output(tf.while_loop(lambda k, _: k < n, step, (0, 0))[1])
    assert int(outer(4)) == 0 + 1 + 4 + 9
