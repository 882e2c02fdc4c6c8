"""Sources that include the same headers are compiled together, each of them once."""

import os
import pathlib
import platform

import pytest

import cc_build
import cc_units
import library_build
import library_tests
from cc_build import Job, build
from cc_units import SOURCES_A_UNIT, units
from library_build import OBJECTS, TensorFlow, library_sources, object_jobs

TENSORFLOW = TensorFlow("2.21.0", "/wheel", ["-I/wheel/include"], [])
OBJECTS_OF_TESTS = pathlib.Path("build/objects")


@pytest.fixture
def root(tmp_path, monkeypatch) -> pathlib.Path:
    """A project of three sources that include one header."""
    for module in (cc_build, cc_units):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "cc").mkdir()
    (tmp_path / "cc/answer.h").write_text(
        "#pragma once\ninline int Answer() { return 42; }\n"
    )
    for name in ("first", "second", "third"):
        text = f'#include "cc/answer.h"\nint {name} = Answer();\n'
        (tmp_path / f"cc/{name}.cc").write_text(text)
    return tmp_path


def job() -> Job:
    (unit,) = units(["cc/first.cc", "cc/second.cc", "cc/third.cc"])
    source = unit.write(OBJECTS_OF_TESTS)
    command = (cc_build.compiler(), "-I.", "-c", str(source))
    return Job((source,), OBJECTS_OF_TESTS / unit.name.with_suffix(".o"), command)


@pytest.mark.parametrize("number", [1, 7, 8, 16, 23, 25, 57])
def test_a_folder_becomes_units_of_about_one_size(number):
    paths = [f"cc/{i:02}.cc" for i in range(number)]
    parts = [unit.sources for unit in units(paths)]
    assert [str(path) for part in parts for path in part] == paths
    sizes = {len(part) for part in parts}
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= SOURCES_A_UNIT * 3 // 2


def test_a_unit_is_of_one_folder():
    found = units(["a/x.cc", "b/x.cc", "b/y.cc"])
    assert [str(unit.name) for unit in found] == ["a/x", "b/x-y"]


def test_a_source_that_is_alone_is_compiled_as_it_is(root):
    (unit,) = units(["cc/first.cc"])
    assert unit.write(OBJECTS_OF_TESTS) == pathlib.Path("cc/first.cc")
    assert not (root / OBJECTS_OF_TESTS).exists()


def test_a_unit_is_compiled_again_if_a_source_of_it_changed_and_only_then(root):
    assert build([job()]) == 1
    assert build([job()]) == 0
    source = root / "cc/second.cc"
    later = source.stat().st_mtime_ns + 10**9
    os.utime(source, ns=(later, later))
    assert build([job()]) == 1


def test_an_error_names_the_source_that_it_is_in(root, capsys):
    (root / "cc/second.cc").write_text("no C++\n")
    with pytest.raises(cc_build.BuildError):
        build([job()])
    assert "cc/second.cc:1" in capsys.readouterr().err


def test_the_library_is_compiled_from_each_source_once(tmp_path):
    compiled = []
    for job in object_jobs(library_sources(), tmp_path, TENSORFLOW):
        (path,) = job.inputs
        lines = path.read_text().splitlines() if path.is_relative_to(tmp_path) else []
        compiled += [line.split('"')[1] for line in lines] or [str(path)]
    assert sorted(compiled) == sorted(library_sources())


def test_a_source_that_has_flags_of_its_own_is_compiled_alone_with_them(tmp_path):
    jobs = {
        job.inputs[0]: job
        for job in object_jobs(library_sources(), tmp_path, TENSORFLOW)
    }
    with_flags = [s for s in library_sources() if library_build.flags_of(s)]
    assert with_flags or platform.machine() != "x86_64"
    for source in with_flags:
        flags = library_build.flags_of(source)
        command = jobs[pathlib.Path(source)].command
        assert list(command[len(command) - 2 - len(flags) : -2]) == flags


def test_no_unit_has_sources_of_the_core_and_others(tmp_path):
    core = library_build.shared_list("CORE_SOURCES")
    for job in object_jobs(library_sources(), tmp_path, TENSORFLOW):
        text = (cc_build.ROOT / job.inputs[0]).read_text()
        if job.inputs[0].is_relative_to(tmp_path):
            found = [line.split('"')[1] in core for line in text.splitlines()]
            assert len(set(found)) == 1


def test_tests_of_the_library_link_objects_of_the_library():
    tested = library_tests.tested_sources()
    assert any("recursive_tf/cc/tf/" in source for source in tested)
    of_library = {
        job.output for job in object_jobs(library_sources(), OBJECTS, TENSORFLOW)
    }
    assert {job.output for job in object_jobs(tested, OBJECTS, TENSORFLOW)} < of_library


def test_tensorflow_is_imported_once_for_all_builds(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages/tensorflow"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    asked = []

    def answer() -> list[object]:
        asked.append(1)
        return ["2.21.0", str(folder), [f"-I{folder}/include"], [f"-L{folder}"]]

    monkeypatch.setattr(library_build, "ROOT", tmp_path)
    monkeypatch.setattr(library_build, "tensorflow_folder", lambda: folder)
    monkeypatch.setattr(library_build, "import_tensorflow", answer)
    first = library_build.ask_tensorflow()
    assert library_build.ask_tensorflow() == first
    assert first.compile_flags == ["-Ibuild/tensorflow/include"]
    assert len(asked) == 1
    os.utime(folder / "__init__.py", ns=(1, 1))  # Another one was installed there.
    library_build.ask_tensorflow()
    assert len(asked) == 2
