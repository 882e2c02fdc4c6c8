"""Branches and blocks are named after the user's code."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.flatten.branch_names import unique_among
from recursive_tf.python.batching.plan.block_names import names_of
from tests.batching.interpreter import Compiled
from tests.helpers.subgraphs import define_fib


def procedures_of(subgraph):
    return [procedure.name for procedure in Compiled(subgraph).program.procedures]


def names_of_blocks(subgraph):
    compiled = Compiled(subgraph)
    names = [procedure.name for procedure in subgraph._close().program.procedures]
    return names_of(compiled.program.procedures, compiled.blocks, names).blocks


def define(conditional, **inputs):
    """Returns a SubGraph whose outputs are those of a conditional."""
    with rtf.SubGraph("f") as f:
        f.output(conditional(f, f.input(tf.int32)))
    return f


def test_a_branch_has_the_name_of_its_function():
    def base():
        return 1

    def deeper():
        return f(n - 1) * 2

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, base, deeper))
    assert procedures_of(f) == ["f", "f/deeper", "f/true"]


def test_lambdas_are_what_the_condition_is():
    assert procedures_of(define_fib()) == ["fib", "fib/false", "fib/true"]


def test_lambdas_in_a_function_that_autograph_converts():
    made = []

    @tf.function
    def function(n):
        with rtf.SubGraph("f") as f:
            m = f.input(tf.int32)
            f.output(tf.cond(m < 1, lambda: m * 2, lambda: f(m - 1) + 1))
        made.append(f)
        return f(n)

    function(tf.constant(2))
    assert procedures_of(made[0]) == ["f", "f/false", "f/true"]


def test_an_if_of_autograph_is_what_the_condition_is():
    made = []

    @tf.function
    def function(n):
        with rtf.SubGraph("f", output_signature=tf.int32) as f:
            m = f.input(tf.int32)
            result = m
            if m > 0:
                result = f(m - 1) + 1
            f.output(result)
        made.append(f)
        return f(n)

    function(tf.constant(2))
    assert procedures_of(made[0]) == ["f", "f/false", "f/true"]


def test_cases_have_numbers():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        branches = [lambda: n, lambda: f(n - 1), lambda: f(n - 2)]
        f.output(tf.switch_case(n, branches))
    assert procedures_of(f) == ["f", "f/case 0", "f/case 1", "f/case 2"]


def test_branches_in_branches_and_beside_each_other():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def large():
            return tf.cond(n > 9, lambda: f(n - 9), lambda: f(n - 1))

        f.output(tf.cond(n < 1, lambda: n, large) + tf.cond(n < 2, lambda: n, large))
    assert set(procedures_of(f)) == {
        *("f", "f/large", "f/true", "f/large (2)", "f/true (2)"),
        *(f"f/large{i}/{b}" for i in ("", " (2)") for b in ("false", "true")),
    }


def test_a_block_has_the_line_of_its_first_op():
    names = names_of_blocks(define_fib())
    line = define_fib.__code__.co_firstlineno + 4
    assert names == [f"fib subgraphs.py:{line}", f"fib/false subgraphs.py:{line}"]


def test_no_two_blocks_have_the_same_name():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: 0, lambda: f(f(n - 1) * 2 - n) + 3 * n))
    names = names_of_blocks(f)
    assert len(names) == 3
    assert [re.sub(r"\d+", "1", name) for name in names[1:]] == [
        "f/false test_names.py:1",
        "f/false test_names.py:1 (1)",
    ]


def test_a_taken_name_is_numbered():
    assert unique_among({"a", "a (2)"}, "a") == "a (3)"


def test_an_error_names_the_block():
    table = tf.constant([1.0, 2.0])
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.int32)

        def look_up():
            return tf.gather(table, 5 - n)

        f.output(tf.cond(n < 1, look_up, lambda: f(n - 1)))
    line = look_up.__code__.co_firstlineno + 1
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=f"in block 'f/look_up test_names.py:{line}'",
    ):
        f(2)
