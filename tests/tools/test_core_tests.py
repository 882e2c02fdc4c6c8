"""The runner of the C++ tests fails when they fail, and says which."""

import pathlib

import pytest

import cc_build
import core_coverage
import core_tests
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
    assert core_tests.run_all(jobs, "none", "*")
    printed = capsys.readouterr().out
    assert "[==========] 6 tests from 2 programs ran" in printed
    assert "[  PASSED  ] 6 tests." in printed


def test_one_failing_program_fails_all_and_is_shown(tmp_path, capsys):
    failing = program(tmp_path, "b_test", "echo 'Expected: 1'; exit 1")
    assert not core_tests.run_all([passing(tmp_path, "a_test"), failing], "none", "*")
    printed = capsys.readouterr().out
    assert "Expected: 1" in printed
    assert f"[  FAILED  ] {tmp_path / 'b_test'}" in printed
    assert "PASSED" not in printed


def test_a_program_that_exits_early_does_not_pass(tmp_path):
    silent = program(tmp_path, "a_test", "exit 0")
    assert not core_tests.run_all([silent], "none", "*")


def test_a_program_that_hangs_is_stopped(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(core_tests, "SECONDS_A_PROGRAM", 0.2)
    hanging = program(tmp_path, "a_test", "echo started; exec sleep 60")
    assert not core_tests.run_all([hanging], "none", "*")
    assert "not finished" in capsys.readouterr().out


def test_a_filter_that_matches_nothing_fails(tmp_path, capsys):
    empty = "echo '[==========] 0 tests from 0 test suites ran.'"
    jobs = [program(tmp_path, "a_test", empty)]
    assert not core_tests.run_all(jobs, "none", "NoSuchTest")
    assert "no test is named NoSuchTest" in capsys.readouterr().out


def test_every_core_test_file_becomes_a_program(tmp_path, monkeypatch):
    for module in (cc_build, core_tests):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    for name in ("base/mutex_test.cc", "runtime/path_test.cc", "runtime/fakes.h"):
        (tmp_path / "tests/cc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests/cc" / name).touch()
    jobs = core_tests.programs("thread")
    outputs = [str(job.output) for job in jobs]
    assert outputs == [
        "build/cc-tests/thread/base/mutex_test",
        "build/cc-tests/thread/runtime/path_test",
    ]
    assert all("-fsanitize=thread" in job.command for job in jobs)


def test_coverage_is_no_sanitizer():
    with pytest.raises(SystemExit):
        core_tests.parse(["--coverage", "--sanitize=thread"])


def test_a_line_of_a_template_ran_if_any_instantiation_ran_it():
    def record(count):
        line = {"line_number": 7, "count": count}
        return {"file": "./recursive_tf/cc/base/mutex.h", "lines": [line]}

    foreign = {"file": "/usr/include/vector", "lines": [{"line_number": 1, "count": 1}]}
    counts = core_coverage.merge([record(0), record(2), foreign])
    assert counts == {"recursive_tf/cc/base/mutex.h": {7: 2}}


def test_a_library_that_is_not_there_is_not_found():
    assert cc_build.compiler_file("libno_such_library.a") is None
