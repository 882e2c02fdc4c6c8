"""Options and executors: checked when they are chosen, and one for a program."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.subgraphs import define_fib

LIMITS = ["max_depth", "max_activations", "max_bytes"]


NO_LIMITS = [0, -1, 0.5, 2.5, float("inf"), float("nan"), 2**63, True, "5", [5], 5j]


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("limit", NO_LIMITS, ids=str)
def test_a_limit_is_a_whole_number_from_one_on(name, limit):
    message = message_of(lambda: rtf.Options(**{name: limit}), ValueError)
    assert f"{name}={limit!r}: a limit is a whole number, from 1" in message


@pytest.mark.parametrize("limit", [10**6, 1e6, np.int32(10**6), 2**63 - 1])
def test_any_whole_number_is_a_limit(limit):
    options = rtf.Options(**dict.fromkeys(LIMITS, limit))
    assert define_fib(options=options)(5).numpy() == 5


@pytest.mark.parametrize("name", ["share_rows", "lazy_pushes"])
@pytest.mark.parametrize("choice", [[], "yes", 2, None], ids=str)
def test_what_is_true_or_false_is_nothing_else(name, choice):
    message = message_of(lambda: rtf.Options(**{name: choice}), ValueError)
    assert f"{name}={choice!r}: choose True" in message


def test_options_are_rtf_options():
    make = lambda: rtf.SubGraph(options={"max_depth": 3})  # noqa: E731
    assert "{'max_depth': 3}: give an rtf.Options" in message_of(make, TypeError)


@pytest.mark.parametrize("name", LIMITS)
def test_none_is_no_limit(name):
    assert getattr(rtf.Options(**{name: None}), name) is None


def test_a_recursion_without_a_base_case_is_stopped_by_default():
    assert rtf.Options().max_depth == 100_000


def test_a_recursion_that_branches_without_end_is_stopped_by_default():
    assert rtf.Options().max_activations == 10_000_000


def test_what_a_root_call_holds_is_a_share_of_the_memory_by_default():
    assert rtf.Options().max_bytes == "auto"


def test_an_unknown_policy_is_refused_with_the_known_ones():
    message = message_of(lambda: rtf.Options(policy="random"), ValueError)
    assert (
        "policy='random': choose one of ('critical_path', 'agenda', 'depth', 'fsm')"
        in message
    )


def test_equal_options_are_equal():
    assert rtf.Options(max_depth=5) == rtf.Options(max_depth=5)
    assert rtf.Options(max_depth=5) != rtf.Options(max_depth=6)


def test_options_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        rtf.Options().max_depth = 1


def test_an_unknown_executor_is_refused_with_the_known_ones():
    message = message_of(lambda: rtf.SubGraph(executor="fast"), ValueError)
    assert "executor='fast': choose one of ('auto', 'batched', 'dataflow')" in message


def call_from_another(callee, **choices):
    with rtf.SubGraph("caller", **choices) as caller:
        caller.output(callee(caller.input(tf.int32)))
    return caller(5)


@pytest.mark.parametrize(
    "choices",
    [{"options": rtf.Options(max_depth=7)}, {"executor": "dataflow"}],
    ids=lambda choices: next(iter(choices)),
)
def test_a_callee_with_choices_of_its_own_is_refused(choices):
    message = message_of(lambda: call_from_another(define_fib(**choices)))
    assert "SubGraph 'fib' has an executor or options of its own" in message
    assert "is called from 'caller', whose executor and options hold" in message


@pytest.mark.parametrize(
    "choices",
    [{"options": rtf.Options(max_depth=7)}, {"executor": "dataflow"}],
    ids=lambda choices: next(iter(choices)),
)
def test_a_callee_with_the_choices_of_its_caller_is_fine(choices):
    assert int(call_from_another(define_fib(**choices), **choices)) == 5
