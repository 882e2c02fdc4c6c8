"""Each file of tests of the C++ core is a program, with the flags of its flavor."""

import pytest

import cc_build
import core_coverage
import core_tests


def test_every_core_test_file_becomes_a_program(tmp_path, monkeypatch):
    for module in (cc_build, core_tests):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    names = ("base/mutex_test.cc", "runtime/path_test.cc", "runtime/fakes.h")
    for name in (*names, "tf/needs_tensorflow_test.cc"):
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
