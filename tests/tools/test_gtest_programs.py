"""A C++ test that fails makes its run fail, which says which it is."""

import pathlib

import gtest_programs
from cc_build import Job


def program(folder: pathlib.Path, name: str, script: str) -> Job:
    """A shell script in place of a compiled test."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Job((), path, ())


def passing(folder: pathlib.Path, name: str) -> Job:
    return program(folder, name, "echo '[==========] 3 tests from 1 test suite ran.'")


def test_the_summary_counts_the_tests_of_all_programs(tmp_path, capsys):
    jobs = [passing(tmp_path, "a_test"), passing(tmp_path, "b_test")]
    assert gtest_programs.run_all(jobs, "none", "*")
    printed = capsys.readouterr().out
    assert "[==========] 6 tests from 2 programs ran" in printed
    assert "[  PASSED  ] 6 tests." in printed


def test_one_failing_program_fails_all_and_is_shown(tmp_path, capsys):
    failing = program(tmp_path, "b_test", "echo 'Expected: 1'; exit 1")
    assert not gtest_programs.run_all(
        [passing(tmp_path, "a_test"), failing], "none", "*"
    )
    printed = capsys.readouterr().out
    assert "Expected: 1" in printed
    assert f"[  FAILED  ] {tmp_path / 'b_test'}" in printed
    assert "PASSED" not in printed


def test_programs_run_beside_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr(gtest_programs.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(gtest_programs, "SECONDS_A_PROGRAM", 30)
    # Each ends once the other has begun.
    script = "touch {0}/{1}; until [ -e {0}/{2} ]; do sleep 0.01; done; echo '{3}'"
    summary = "[==========] 3 tests from 1 test suite ran."
    jobs = [
        program(tmp_path, f"{name}_test", script.format(tmp_path, name, other, summary))
        for name, other in ("ab", "ba")
    ]
    assert gtest_programs.run_all(jobs, "none", "*")


def test_a_program_that_exits_early_does_not_pass(tmp_path):
    silent = program(tmp_path, "a_test", "exit 0")
    assert not gtest_programs.run_all([silent], "none", "*")


def test_a_program_that_hangs_is_stopped(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gtest_programs, "SECONDS_A_PROGRAM", 0.2)
    hanging = program(tmp_path, "a_test", "echo started; exec sleep 60")
    assert not gtest_programs.run_all([hanging], "none", "*")
    assert "not finished" in capsys.readouterr().out


def test_a_filter_that_matches_nothing_fails(tmp_path, capsys):
    empty = "echo '[==========] 0 tests from 0 test suites ran.'"
    jobs = [program(tmp_path, "a_test", empty)]
    assert not gtest_programs.run_all(jobs, "none", "NoSuchTest")
    assert "no test is named NoSuchTest" in capsys.readouterr().out
