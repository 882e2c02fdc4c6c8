"""The terminal of a training shows what the training says, not what TensorFlow logs."""

import os
import subprocess
import sys

import pytest

from models.greetings import without_greetings


def run(program: str, level: str) -> str:
    """Returns what a program that imports TensorFlow writes to standard error."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": level},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
def test_a_script_greets_nobody():
    program = "import models, tensorflow as tf; tf.zeros(2) + 1"
    assert run(program, "2") == ""


@pytest.mark.slow
def test_who_asks_for_all_lines_gets_them():
    assert "absl::InitializeLog" in run("import models, tensorflow", "0")


def test_what_is_no_greeting_is_printed_later(capfd):
    with without_greetings():
        os.write(2, b"I0000 00:00:1.5  7 port.cc:153] oneDNN is on.\n")
        os.write(2, b"E0000 00:00:1.5  7 other.cc:1] The disk is full.\n")
        assert capfd.readouterr().err == ""
    assert (
        capfd.readouterr().err == "E0000 00:00:1.5  7 other.cc:1] The disk is full.\n"
    )


def fail() -> None:
    os.write(2, b"about to fail\n")
    raise ValueError("wrong")


def test_an_error_does_not_lose_what_was_said_before_it(capfd):
    with pytest.raises(ValueError, match="wrong"), without_greetings():
        fail()
    assert capfd.readouterr().err == "about to fail\n"
