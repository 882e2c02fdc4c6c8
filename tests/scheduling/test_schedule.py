"""`rtf.Schedule` is a value that says which threads run operations."""

import doctest
import json

import pytest

import recursive_tf as rtf
from recursive_tf.python.scheduling import measure, schedule
from recursive_tf.python.scheduling import profile as profile_module


@pytest.mark.parametrize("module", [schedule, measure, profile_module])
def test_examples_are_true(module):
    assert doctest.testmod(module).failed == 0


def test_the_default_is_tensorflows_own():
    assert rtf.Schedule().is_tensorflows
    assert rtf.Schedule().attribute() == ""
    assert rtf.Options().schedule == rtf.Schedule()


@pytest.mark.parametrize(
    "given",
    [rtf.Schedule(), rtf.Schedule(3, 2), rtf.Schedule(1, 4, "first_come", False)],
)
def test_it_goes_through_attributes_and_json(given):
    assert profile_module.schedule_of(given.attribute()) == given
    options = rtf.Options(schedule=given)
    config = json.loads(json.dumps(options.config()))
    assert rtf.Options.from_config(config) == options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"executors": 2}, "give two whole numbers, or neither"),
        ({"threads": 2}, "give two whole numbers, or neither"),
        ({"executors": 1.5, "threads": 1}, "give two whole numbers, or neither"),
        ({"executors": "a", "threads": "b"}, "give two whole numbers, or neither"),
        ({"executors": 0, "threads": 1}, "both are at least 1"),
        ({"executors": 64, "threads": 64}, "at most 1024 threads"),
        ({"order": "last_come"}, "choose one of"),
    ],
)
def test_wrong_ones_say_what_is_right(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtf.Schedule(**arguments)


def test_options_take_nothing_else():
    with pytest.raises(ValueError, match=r"give an rtf\.Schedule"):
        rtf.Options(schedule="2x1")
