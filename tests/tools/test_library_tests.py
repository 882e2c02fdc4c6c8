"""The tests of recursive_tf/cc/tf link what the library is linked from."""

import pathlib

import pytest

import library_build
import library_tests
from cc_build import ROOT, BuildError
from library_build import TensorFlow

TENSORFLOW = TensorFlow(
    version="2.21.0",
    folder="/wheel",
    compile_flags=["-I/wheel/include", "-DX=1"],
    link_flags=["-Lbuild/tensorflow", "-l:libtensorflow_framework.so.2"],
)


def test_an_object_of_the_library_is_that_of_its_build():
    (job,) = library_build.object_jobs(
        ["recursive_tf/cc/tf/stack_rows.cc"], library_build.OBJECTS, TENSORFLOW
    )
    assert job.output == pathlib.Path("build/library/recursive_tf/cc/tf/stack_rows.o")


def test_the_program_finds_tensorflow_where_it_is_installed():
    job = library_tests.link([pathlib.Path("a.o")], TENSORFLOW)
    assert "-Wl,-rpath,/wheel" in job.command
    assert {"a.o", "-l:libtensorflow_cc.so.2"} < set(job.command)


def test_no_tests_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(library_tests, "ROOT", tmp_path)
    with pytest.raises(BuildError, match="there is no tests/cc/tf"):
        library_tests.build_program()


def test_there_are_tests():
    assert list((ROOT / library_tests.TESTS).glob("*_test.cc"))
