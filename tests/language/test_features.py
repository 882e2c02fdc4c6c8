"""A row of the table cannot say what its test does not show."""

from unittest import mock

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.unrolled import define_repeat
from tests.language import features
from tests.language.features import Feature, check, feature

EFFECT = "it has an effect for each activation"


def row(**says):
    none = {"gradients": False, "refused": None, "raises": None, "says": None}
    says = none | says
    return Feature("Gradients", "a feature", **says, module=__name__, test="test_it")


COUNT = tf.Variable(0.0)


def calls():
    define_repeat(lambda y, n: tf.sin(y))(2, 0.5)


def differentiates():
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = define_repeat(lambda y, n: tf.sin(y))(2, x)
    tape.gradient(y, x)


def counts():
    define_repeat(lambda y, n: y + COUNT.assign_add(1.0))(2, 0.5)


def counts_in_dataflow():
    step = lambda y, n: y + COUNT.assign_add(1.0)  # noqa: E731
    define_repeat(step, executor="dataflow")(2, 0.5)


def fails():
    raise KeyError("no such key")


HOLDS = {
    "works": ("batched", calls, row()),
    "has gradients": ("batched", differentiates, row(gradients=True)),
    "is refused": ("batched", counts, row(refused=EFFECT)),
    "is refused for a reason with a gap": (
        *("batched", counts, row(refused="AssignAddVariableOp … for each activation")),
    ),
    "runs in the other executor": ("dataflow", counts, row(refused=EFFECT)),
    "raises": ("dataflow", fails, row(raises=KeyError, says="no such key")),
}

LIES = {
    "calls nothing": ("dataflow", lambda: None, row()),
    "fails": ("dataflow", fails, row()),
    "takes no gradient": ("dataflow", calls, row(gradients=True)),
    "takes a gradient": ("batched", differentiates, row()),
    "runs elsewhere": ("batched", counts_in_dataflow, row()),
    "is refused": ("batched", counts, row()),
    "is not refused": ("batched", calls, row(refused=EFFECT)),
    "is refused for another reason": ("batched", counts, row(refused="no rule")),
    "is refused by itself": ("batched", counts_in_dataflow, row(refused=EFFECT)),
    "raises nothing": ("dataflow", calls, row(raises=KeyError, says="no such key")),
    "raises something else": (
        *("dataflow", fails, row(raises=KeyError, says="another key")),
    ),
}


def in_executor(monkeypatch, name):
    monkeypatch.setitem(rtf.SubGraph.__init__.__kwdefaults__, "executor", name)


@pytest.mark.falls_back(EFFECT, at=HOLDS["is refused"])
@pytest.mark.falls_back(EFFECT, at=HOLDS["is refused for a reason with a gap"])
@pytest.mark.parametrize("case", HOLDS.values(), ids=HOLDS)
def test_a_row_that_is_true_passes(case, monkeypatch):
    executor, run, says = case
    in_executor(monkeypatch, executor)
    check(says, run)


@pytest.mark.parametrize("case", LIES.values(), ids=LIES)
def test_a_row_that_is_not_true_fails(case, monkeypatch):
    executor, run, says = case
    in_executor(monkeypatch, executor)
    with pytest.raises((AssertionError, KeyError, ValueError, pytest.fail.Exception)):
        check(says, run)


def test_a_row_whose_executor_nobody_chose_fails(monkeypatch):
    in_executor(monkeypatch, "auto")
    with pytest.raises(AssertionError, match="was not run by the fixture"):
        check(row(), calls)


def test_a_row_is_of_a_function_that_pytest_runs():
    with pytest.raises(ValueError, match="pytest would not run helper"):

        @feature("Gradients", "a helper")
        def helper():
            """Calls nothing."""


def test_a_row_is_in_a_section_of_the_page():
    with pytest.raises(ValueError, match="There is no section 'Nowhere'"):
        feature("Nowhere", "a feature")


def test_an_error_is_named_with_its_message():
    with pytest.raises(ValueError, match="needs both of raises= and says="):
        feature("Gradients", "a feature", raises=KeyError)


def test_a_row_has_one_test():
    again = feature("Gradients", "a feature")

    def test_one():
        """Calls nothing."""

    def test_another():
        """Calls nothing."""

    with mock.patch.dict(features._features):
        again(test_one)
        with pytest.raises(
            ValueError, match="'a feature' has two tests: test_one, test"
        ):
            again(test_another)
