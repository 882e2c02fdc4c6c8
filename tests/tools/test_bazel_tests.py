"""What is tested after a build with Bazel is what Bazel built."""

import os
import pathlib
import shutil
import sys

import pytest

import bazel_tests
import debian_bazel
from cc_build import BuildError

PACKAGE = "recursive_tf/__init__.py"
LIBRARY = "recursive_tf/ops/_recursive_tf.so"
# Maps the file into memory for as long as the process runs, as a loader would.
MAP = """
import mmap
with open({path!r}, "rb") as file:
    keep = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
"""


def write(path: pathlib.Path, text: str) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def copy(tmp_path) -> pathlib.Path:
    """A copy whose package maps its own library."""
    library = write(tmp_path / "copy" / LIBRARY, "library")
    write(tmp_path / "copy" / PACKAGE, MAP.format(path=str(library)))
    return tmp_path / "copy"


def test_bazel_fetches_no_repository_that_is_here():
    command = debian_bazel.command("test", "//:all")
    overridden = [
        argument.split("=")[1:]
        for argument in command
        if argument.startswith("--override_repository=")
    ]
    assert [name for name, _ in overridden] == list(debian_bazel.REPOSITORIES)
    # Bazel refuses others.
    assert all(pathlib.Path(path).is_absolute() for _, path in overridden)


def test_the_stand_ins_are_repositories_of_their_names():
    for folder in debian_bazel.STAND_INS.iterdir():
        assert debian_bazel.REPOSITORIES[folder.name] == folder
        assert (
            f'workspace(name = "{folder.name}")' in (folder / "WORKSPACE").read_text()
        )


def test_bazel_builds_against_the_tensorflow_of_the_running_python():
    assert f"--repo_env=PYTHON_BIN_PATH={sys.executable}" in debian_bazel.command(
        "test"
    )


def test_no_bazel_server_is_left_behind():
    command = debian_bazel.command("test", "//:all")
    assert command.index("--batch") < command.index("test")


def test_a_bazel_that_fails_stops_everything(monkeypatch):
    monkeypatch.setattr(debian_bazel, "BAZEL", pathlib.Path("/bin/false"))
    with pytest.raises(BuildError, match="Bazel failed"):
        bazel_tests.run_bazel()


def test_a_copy_that_loads_its_own_library_is_right(copy, capsys):
    bazel_tests.check_copy(copy)
    assert capsys.readouterr().out.split() == [str(copy / PACKAGE), str(copy / LIBRARY)]


def test_a_copy_that_loads_another_library_is_refused(copy, tmp_path, capsys):
    other = write(tmp_path / "installed" / LIBRARY, "library")
    write(copy / PACKAGE, MAP.format(path=str(other)))
    with pytest.raises(BuildError, match="would not test"):
        bazel_tests.check_copy(copy)
    assert capsys.readouterr().out.split() == [str(copy / PACKAGE), str(other)]


def test_another_package_than_that_of_the_copy_is_refused(
    copy, tmp_path, monkeypatch, capsys
):
    shutil.rmtree(copy / "recursive_tf")
    installed = write(tmp_path / "installed" / PACKAGE, "")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))
    monkeypatch.setattr(bazel_tests.package_copy, "environment", lambda _: os.environ)
    with pytest.raises(BuildError, match="would not test"):
        bazel_tests.check_copy(copy)
    assert capsys.readouterr().out.split() == [str(installed)]


def test_failing_python_tests_fail_the_command(monkeypatch, tmp_path):
    for name in ("googletest.ensure", "debian_bazel.ensure", "run_bazel"):
        monkeypatch.setattr(f"bazel_tests.{name}", lambda: None)
    monkeypatch.setattr(bazel_tests.package_copy, "assemble", lambda *paths: tmp_path)
    monkeypatch.setattr(bazel_tests, "check_copy", lambda copy: None)
    monkeypatch.setattr(bazel_tests, "run_python_tests", lambda copy: False)
    assert bazel_tests.main() == 1
    monkeypatch.setattr(bazel_tests, "run_python_tests", lambda copy: True)
    assert bazel_tests.main() == 0
