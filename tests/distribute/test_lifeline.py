"""Processes that work together hear when one stops, ends early, or is done."""

import os
import signal
import socket

import pytest

from recursive_tf.distribute import lifeline
from recursive_tf.distribute.heart import BYE, Times
from recursive_tf.distribute.lifeline import Lifeline
from tests.helpers.programs import Program

SOON_S = 20.0


@pytest.fixture(autouse=True)
def short_times(monkeypatch):
    times = Times(beat=0.1, silence=1.0, grace=0.2, answer=5.0)
    monkeypatch.setattr(lifeline, "TIMES", times)


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def silent(tmp_path):
    """A process that cannot run Python, and a connection to its heart."""
    with socket.create_server(("localhost", 0)) as door:
        port = door.getsockname()[1]
        program = Program("tests.distribute.silent_program", [port], tmp_path / "log")
        connection, _ = door.accept()
    with connection:
        yield program, connection
    program.kill()


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


def test_who_leaves_does_not_mind_a_heart_that_ends_unheard(pair, lost):
    line = Lifeline({"worker:1": pair[0]}, lost.append)
    os.kill(line._heart.pid, signal.SIGSTOP)
    line._control.send(BYE)
    line._heart.kill()
    line.join(SOON_S)
    assert not line.is_alive()
    assert lost == []


def test_who_cannot_run_python_is_heard(silent, lost):
    program, connection = silent
    line = Lifeline({"worker:0": connection}, lost.append)
    line.join(3.0)
    assert line.is_alive()
    program.kill()
    line.join(SOON_S)
    assert lost == ["worker:0 has ended before its work was done. Look into its log."]


def test_who_cannot_run_python_says_who_is_lost_and_ends(silent):
    program, _ = silent
    said = program.finish(SOON_S, code=-signal.SIGKILL)
    assert "worker:1 has not been heard of for 2 s." in said


def test_who_is_stopped_is_silent(silent, lost):
    program, connection = silent
    os.kill(program.pid, signal.SIGSTOP)
    line = Lifeline({"worker:0": connection}, lost.append)
    line.join(SOON_S)
    assert lost[0].startswith("worker:0 has not been heard of for 1 s.")
