"""Options are checked when they are made, and do not change."""

import dataclasses

import pytest

import recursive_tf as rtf


@pytest.mark.parametrize("name", ["max_depth", "max_activations"])
@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(name, limit):
    with pytest.raises(ValueError, match=f"{name}={limit}: a limit is at least 1"):
        rtf.Options(**{name: limit})


@pytest.mark.parametrize("name", ["max_depth", "max_activations"])
def test_none_is_no_limit(name):
    assert getattr(rtf.Options(**{name: None}), name) is None


def test_a_recursion_without_a_base_case_is_stopped_by_default():
    assert rtf.Options().max_depth == 100_000


def test_the_number_of_activations_is_not_limited_by_default():
    assert rtf.Options().max_activations is None


def test_an_unknown_policy_is_refused_with_the_known_one():
    with pytest.raises(
        ValueError, match="policy='depth': the only policy is \"agenda\""
    ):
        rtf.Options(policy="depth")


def test_equal_options_are_equal():
    assert rtf.Options(max_depth=5) == rtf.Options(max_depth=5)
    assert rtf.Options(max_depth=5) != rtf.Options(max_depth=6)


def test_options_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        rtf.Options().max_depth = 1
