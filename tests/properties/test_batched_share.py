"""A run in which too few random programs were batched fails, whatever ran them."""

import json
from types import SimpleNamespace

import pytest

from tests.helpers import batched_share


def summary_of(*parts):
    """Returns the summary of a run whose parts have noted this."""
    config = SimpleNamespace(stash=pytest.Stash())
    for part in parts:
        properties = [(batched_share.NOTE, json.dumps(part))]
        report = SimpleNamespace(when="call", user_properties=properties)
        batched_share.collect(config, report)
    return batched_share.summary(config)


def programs(first, count, *, are_batched):
    return dict.fromkeys(map(str, range(first, first + count)), are_batched)


def test_the_parts_of_a_run_are_counted_together():
    batched = programs(0, 24, are_batched=True)
    line, is_low = summary_of(batched, programs(24, 16, are_batched=False))
    assert line == "60% of 40 random programs were batched"
    assert not is_low


def test_a_share_that_is_one_program_too_low_fails_the_run():
    batched = programs(0, 23, are_batched=True)
    line, is_low = summary_of(batched, programs(23, 17, are_batched=False))
    assert is_low
    assert "so the run fails" in line


def test_a_program_that_was_drawn_twice_counts_once():
    line, _ = summary_of(*[programs(0, 1, are_batched=True)] * 3)
    assert line == "100% of 1 random programs were batched"


def test_a_run_of_few_programs_is_not_judged():
    _, is_low = summary_of(programs(0, 20, are_batched=False))
    assert not is_low


def test_a_run_without_random_programs_says_nothing():
    assert summary_of() == (None, False)
