"""A user is told what `auto` does not batch, and what is compiled again and again."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.root_calls import fallback
from tests.helpers.subgraphs import define_fib, define_triangle


def define_count(**choices):
    """Returns a SubGraph that cannot be batched: it counts its invocations."""
    visits = tf.Variable(0.0)
    with rtf.SubGraph("count", **choices) as count:
        n = count.input(tf.int32)
        more = lambda: count(n - 1) + visits.assign_add(1.0)  # noqa: E731
        count.output(tf.cond(n < 1, lambda: 0.0, more))
    return count


@pytest.mark.falls_back("it has an effect")
def test_a_fallback_is_a_warning_with_op_line_and_cure(warnings):
    define_count()(2)
    (said,) = warnings()
    assert said.startswith("SubGraph 'count' falls back to the dataflow executor")
    assert "AssignAddVariableOp 'cond/AssignAddVariableOp' at " in said
    assert "test_fallback.py:" in said
    assert "Take it out of the SubGraph" in said
    assert 'RTF_WARN_FALLBACK=0 silences this; so does executor="dataflow".' in said


@pytest.mark.falls_back("it has an effect")
def test_a_program_is_warned_of_once(warnings):
    count = define_count()
    for _ in range(2):
        count(2)
        count.map([1, 2])
        tf.function(lambda: count(2), autograph=False)()
    assert len(warnings()) == 1


@pytest.mark.falls_back("it has an effect")
def test_a_program_that_is_defined_again_is_warned_of_once(warnings):
    for _ in range(3):
        define_count()(2)
    assert len(warnings()) == 1


@pytest.mark.falls_back("two of them")
def test_every_program_is_warned_of(warnings):
    define_count()(2)
    define_triangle()(2)
    assert [said.split("'")[1] for said in warnings()] == ["count", "triangle"]


@pytest.mark.falls_back("it has an effect")
def test_the_variable_silences_it(warnings, monkeypatch):
    monkeypatch.setenv("RTF_WARN_FALLBACK", "0")
    define_count()(2)
    assert not warnings()


@pytest.mark.executor("dataflow")
def test_who_chose_the_dataflow_executor_is_not_warned(warnings):
    define_count()(2)
    assert not warnings()


def test_what_is_batched_is_no_warning(warnings):
    define_fib()(5)
    assert not warnings()


def test_an_explanation_alone_is_no_warning(warnings):
    assert rtf.explain(define_count()).executor == "dataflow"
    assert not warnings()


# --- Defined anew


def step(n):
    """What a loop should not do: it defines what it calls."""
    return define_fib()(n)


def test_a_subgraph_that_is_defined_at_each_eager_step_is_a_warning(warnings):
    for n in range(5):
        step(n)
    assert not warnings()
    for n in range(5):
        step(n)
    (said,) = warnings()
    assert said.startswith("SubGraph 'fib' was defined anew at ")
    assert "6 times" in said
    assert "Define it once, outside of the loop" in said


def test_the_variable_silences_that_too(warnings, monkeypatch):
    monkeypatch.setenv("RTF_WARN_FALLBACK", "0")
    for n in range(7):
        step(n)
    assert not warnings()


def test_many_subgraphs_of_one_line_that_are_kept_are_no_warning(warnings):
    subgraphs = [define_fib() for _ in range(8)]
    for _ in range(2):
        for subgraph in subgraphs:
            subgraph(3)
    assert not warnings()


def test_a_subgraph_that_is_defined_in_a_function_is_no_warning(warnings):
    run = tf.function(step, autograph=False)
    for n in range(8):
        run(tf.constant(n))
    assert not warnings()


def test_one_that_is_called_often_enough_is_no_warning(warnings):
    for _ in range(7):
        fib = define_fib(leaf=tf.identity)
        for _ in range(120):
            fib(1)
    assert not warnings()


# --- For other parts of the library


@pytest.mark.falls_back("it says that one did")
def test_what_falls_back_can_be_observed():
    op = tf.function(lambda: tf.zeros([])).get_concrete_function().outputs[0].op
    with fallback.observe() as seen:
        fallback.fell_back("The gradient of SubGraph 'f'", CannotBatchError(op, "No."))
    (one,) = seen
    assert one.startswith("The gradient of SubGraph 'f': Identity ")
