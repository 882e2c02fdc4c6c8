"""Processes that work together hear when one stops, ends early, or is done."""

import socket

import pytest

from recursive_tf.distribute import lifeline
from recursive_tf.distribute.lifeline import Lifeline

SOON_S = 20.0


@pytest.fixture(autouse=True)
def short_times(monkeypatch):
    for name, value in {"BEAT_S": 0.1, "SILENCE_S": 1.0, "GRACE_S": 0.2}.items():
        monkeypatch.setattr(lifeline, name, value)


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def lost():
    """What was said to be wrong."""
    return []


def test_one_that_is_silent_is_named(pair, lost):
    line = Lifeline({"worker:1": pair[0]}, lost.append)
    line.join(SOON_S)
    assert lost[0].startswith("worker:1 has not been heard of for 1 s.")
    assert len(lost) == 1


def test_one_that_ends_early_is_named(pair, lost):
    line = Lifeline({"worker:1": pair[0]}, lost.append)
    pair[1].close()
    line.join(SOON_S)
    assert lost == ["worker:1 has ended before its work was done. Look into its log."]


def test_who_leaves_is_not_missed(pair, lost):
    lines = [Lifeline({f"worker:{i}": end}, lost.append) for i, end in enumerate(pair)]
    lines[0].join(3.0)
    assert all(line.is_alive() for line in lines)  # Each hears the other.
    lines[0].leave()
    lines[1].join(SOON_S)
    assert not lines[1].is_alive()
    assert lost == []


def test_of_several_the_silent_one_is_named(pair, lost):
    other = socket.socketpair()
    Lifeline({"worker:0": other[1]}, lambda why: None)
    line = Lifeline({"worker:1": other[0], "worker:2": pair[0]}, lost.append)
    line.join(SOON_S)
    assert [why.partition(" ")[0] for why in lost] == ["worker:2"]


def test_who_leaves_does_not_wait(pair, lost):
    line = Lifeline({"worker:1": pair[0]}, lost.append)
    pair[1].close()
    line.leave()
    assert not line.is_alive()
    assert lost == []
