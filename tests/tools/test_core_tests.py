"""Each file of tests of the C++ core is a program, with the flags of its flavor."""

import pathlib
import re

import pytest

import cc_build
import core_coverage
import core_tests
from cc_build import BuildError


@pytest.fixture
def sources(tmp_path, monkeypatch) -> list[pathlib.Path]:
    """Files of tests in a project, and others beside them."""
    for module in (cc_build, core_tests):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    names = ("base/mutex_test.cc", "runtime/path_test.cc", "runtime/fakes.h")
    for name in (*names, "tf/needs_tensorflow_test.cc"):
        (tmp_path / "tests/cc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests/cc" / name).touch()
    return core_tests.tests()


def test_every_file_of_tests_that_need_no_tensorflow_is_found(sources):
    assert [str(source) for source in sources] == [
        "tests/cc/base/mutex_test.cc",
        "tests/cc/runtime/path_test.cc",
    ]


def test_a_file_of_tests_becomes_a_program_with_what_it_needs_of_the_core(sources):
    core = core_tests.objects([pathlib.Path("recursive_tf/cc/a.cc")], "thread")
    header = core_tests.precompiled("thread")
    _, test = core_tests.objects_of_tests(sources, header, "thread")
    job = core_tests.program(test, core, "thread")
    assert str(job.output) == "build/cc-tests/thread/runtime/path_test"
    assert job.inputs == (test.output, core[0].output)
    parts = (*core, header, test, job)
    assert all("-fsanitize=thread" in part.command for part in parts)


def test_tests_are_compiled_again_if_what_they_all_include_is(sources):
    header = core_tests.precompiled("none")
    for test in core_tests.objects_of_tests(sources, header, "none"):
        assert header.output in test.inputs
        assert test.command[-2:] == ("-include", str(header.output.with_suffix("")))


def test_no_tests_are_an_error():
    with pytest.raises(BuildError, match="there is no tests/cc"):
        core_tests.build_programs("none", [])


@pytest.mark.parametrize("flavor", ["address", "thread"])
def test_each_name_of_a_short_form_is_that_of_tests(flavor):
    names = core_tests.SHORT[flavor]
    # Each alternative, e.g. `base/(mutex|faults)` is two.
    folders = re.findall(r"(\w+)/(?:\(([^)]*)\)|(\w*))", names)
    assert "|".join(f"{f}/({g})" if g else f"{f}/{n}" for f, g, n in folders) == names
    paths = [str(path) for path in core_tests.short(flavor)]
    for folder, group, name in folders:
        for each in (group or name).split("|"):
            assert any(f"/{folder}/{each}" in path for path in paths), (folder, each)
    assert len(paths) < len(core_tests.tests()) / 2


def test_a_short_form_is_of_a_sanitizer():
    with pytest.raises(SystemExit):
        core_tests.parse(["--short"])


@pytest.mark.parametrize(
    "kinds",
    [
        ["--coverage", "--sanitize=thread"],
        ["--debug", "--sanitize=thread"],
        ["--debug", "--coverage"],
    ],
)
def test_two_kinds_of_build_at_once_are_refused(kinds, capsys):
    with pytest.raises(SystemExit):
        core_tests.parse(kinds)
    assert "choose one" in capsys.readouterr().err


def test_what_is_for_a_debugger_is_built_apart():
    flavor = core_tests.flavor_of(core_tests.parse(["--debug"]))
    assert "-g" in core_tests.compile_command(flavor)
    assert flavor != core_tests.flavor_of(core_tests.parse([]))


def test_a_line_of_a_template_ran_if_any_instantiation_ran_it():
    def record(count):
        line = {"line_number": 7, "count": count}
        return {"file": "./recursive_tf/cc/base/mutex.h", "lines": [line]}

    foreign = {"file": "/usr/include/vector", "lines": [{"line_number": 1, "count": 1}]}
    counts = core_coverage.merge([record(0), record(2), foreign])
    assert counts == {"recursive_tf/cc/base/mutex.h": {7: 2}}


def test_a_library_that_is_not_there_is_not_found():
    assert cc_build.compiler_file("libno_such_library.a") is None
