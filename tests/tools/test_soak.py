"""The soak runs the parts that are asked for, and fails if one of them does."""

import pathlib
import sys

import pytest

import soak

ROOT = pathlib.Path(__file__).parents[2]


def part(*programs):
    commands = tuple(("-c", program) for program in programs)
    return soak.Part("it", minutes=1, commands=commands)


def soaked(monkeypatch, tmp_path, *arguments):
    command = ["soak", "--log", str(tmp_path), *arguments]
    monkeypatch.setattr(sys, "argv", command)
    return soak.main()


@pytest.fixture
def parts(monkeypatch):
    made = {
        "good": part("print('figure: {1000} times')"),
        "bad": part("raise SystemExit(3)", "print('figure: after')"),
        "hangs": soak.Part("it", 0, (("-c", "import time; time.sleep(60)"),)),
    }
    monkeypatch.setattr(soak, "PARTS", made)


@pytest.mark.usefixtures("parts")
def test_figures_are_in_the_table(monkeypatch, tmp_path, capsys):
    arguments = ["--parts", "good", "--share", "0.01"]
    assert soaked(monkeypatch, tmp_path, *arguments) == 0
    assert "| good | passed | 0.0 | 10 times |" in capsys.readouterr().out


@pytest.mark.usefixtures("parts")
def test_a_part_that_fails_or_hangs_fails_the_soak(monkeypatch, tmp_path, capsys):
    assert soaked(monkeypatch, tmp_path, "--parts", "bad", "hangs", "good") == 1
    printed = capsys.readouterr().out
    for line in ("| bad | FAILED |", "| hangs | FAILED |", "| good | passed |"):
        assert line in printed
    assert "after" in printed  # What comes after a failure runs too.


def test_parts_take_six_hours_and_run_what_is_there():
    assert sum(each.minutes for each in soak.PARTS.values()) <= 360
    for each in soak.PARTS.values():
        for argument in (a for command in each.commands for a in command):
            if argument.startswith(("tests/", "tools/")):
                assert (ROOT / argument).exists(), argument
            if argument.startswith("tests."):
                assert (ROOT / (argument.replace(".", "/") + ".py")).exists(), argument
