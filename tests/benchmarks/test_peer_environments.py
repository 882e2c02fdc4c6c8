"""The environments of the peers: where they are, and how they are made."""

import os
import pathlib
import subprocess
import sys

import pytest

from benchmarks.peers import environments
from benchmarks.peers.environments import CouldNotInstallError, Environment


def finish(making):
    making.command(["finish"])


SMALL = Environment(packages=("a==1",), imports="a", alone=("b==2",), finish=(finish,))


class FakeRun:
    """Remembers commands, and fails at those that have the word `fails_at`."""

    def __init__(self, fails_at=None):
        self.commands = []
        self._fails_at = fails_at

    def __call__(self, command, log):
        self.commands.append([str(word) for word in command])
        if self._fails_at in self.commands[-1]:
            raise CouldNotInstallError(f"{self._fails_at} failed")


@pytest.fixture
def recipes(monkeypatch, tmp_path):
    """Two small recipes in the place of the real ones."""
    lifted = SMALL._replace(is_lifted=True, debian="some-dev")
    known = {"small": SMALL, "lifted": lifted}
    monkeypatch.setattr(environments, "ENVIRONMENTS", known)
    monkeypatch.setenv(environments.FOLDER_VARIABLE, str(tmp_path))
    return known


def make(name, run, lines=None, folder=None):
    tell = (lines if lines is not None else []).append
    return environments.make(name, folder, run=run, tell=tell)


def test_an_environment_is_in_the_folder_that_the_variable_names(recipes, tmp_path):
    assert environments.folder_of("small") == tmp_path / "small"
    assert environments.python_of("small") == tmp_path / "small" / "bin" / "python"


def test_without_the_variable_it_is_in_the_cache_of_the_user(monkeypatch):
    monkeypatch.delenv(environments.FOLDER_VARIABLE, raising=False)
    cache = pathlib.Path.home() / ".cache" / "recursive_tf"
    assert environments.folder_of("torch") == cache / "peers" / "torch"


def test_another_folder_may_be_named(recipes, tmp_path):
    folder = tmp_path / "elsewhere"
    python = make("small", FakeRun(), folder=folder)
    assert python == environments.python_of("small", folder)
    assert environments.is_made("small", folder)
    assert not environments.is_made("small")


def test_only_what_has_mkl_has_variables(recipes, tmp_path):
    assert environments.environment_variables("small") == {}
    library = tmp_path / "lifted" / "mkl_full_speed.so"
    variables = environments.environment_variables("lifted")
    assert variables == {"LD_PRELOAD": str(library)}


def test_an_environment_has_its_packages_then_those_alone_then_the_rest(recipes):
    run = FakeRun()
    make("small", run)
    kinds = [(command[-1], "--no-deps" in command) for command in run.commands]
    folder = str(environments.folder_of("small"))
    assert kinds == [
        (folder, False),
        ("a==1", False),
        ("b==2", True),
        ("finish", False),
        ("import a", False),
    ]


def test_what_is_there_is_not_made_again(recipes):
    make("small", FakeRun())
    run, lines = FakeRun(), []
    assert make("small", run, lines) == environments.python_of("small")
    assert run.commands == []
    assert "is there" in lines[0]


def test_what_failed_is_tried_again_with_what_it_left(recipes):
    with pytest.raises(CouldNotInstallError):
        make("small", FakeRun("finish"))
    assert not environments.is_made("small")
    left = environments.folder_of("small") / "left"
    left.touch()
    make("small", FakeRun())
    assert left.exists()
    assert environments.is_made("small")


@pytest.mark.parametrize(
    "change", [{"packages": ("a==2",)}, {"alone": ()}, {"built": ("c",)}]
)
def test_what_was_made_in_another_way_is_removed(recipes, change):
    make("small", FakeRun())
    left = environments.folder_of("small") / "left"
    left.touch()
    recipes["small"] = SMALL._replace(**change)
    assert not environments.is_made("small")
    make("small", FakeRun())
    assert not left.exists()
    assert environments.is_made("small")


def test_an_error_says_what_failed_and_what_may_be_missing(recipes):
    with pytest.raises(CouldNotInstallError) as raised:
        make("lifted", FakeRun("a==1"))
    text = str(raised.value)
    assert text.startswith("lifted could not be installed: a==1 failed")
    assert "apt-get install some-dev" in text


def test_progress_names_the_environment(recipes):
    lines = []
    make("small", FakeRun(), lines)
    assert "small: installing a==1" in lines
    assert all(line.startswith("small: ") for line in lines)


def test_an_unknown_name_is_an_error_that_lists_the_known():
    with pytest.raises(ValueError, match=r"'nothing'; there are torch, jax"):
        environments.folder_of("nothing")


def test_a_failed_command_says_its_last_lines_and_where_all_are(tmp_path):
    log = tmp_path / "log"
    program = "print(*range(99), sep='\\n'); raise SystemExit(3)"
    with pytest.raises(CouldNotInstallError) as raised:
        environments.run([sys.executable, "-c", program], log)
    text = str(raised.value)
    assert "ended with 3:\n  87\n" in text
    assert str(log) in text
    assert "\n86\n" in log.read_text()


def test_a_program_that_is_missing_is_named(tmp_path):
    with pytest.raises(CouldNotInstallError, match="no-such-program cannot be run"):
        environments.run(["no-such-program"], tmp_path / "log")


def test_dynet_without_eigen_fails_before_anything_is_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("EIGEN3_INCLUDE_DIR", str(tmp_path / "eigen"))
    run = FakeRun()
    with pytest.raises(CouldNotInstallError, match="no Eigen") as raised:
        make("dynet", run, folder=tmp_path / "dynet")
    assert "libeigen3-dev" in str(raised.value)
    assert not [command for command in run.commands if "download" in command]


def test_the_command_makes_the_others_when_one_fails(recipes, monkeypatch, capsys):
    calls = []

    def fail_first(name):
        calls.append(name)
        if name == "small":
            raise CouldNotInstallError("small could not be installed: why")

    monkeypatch.setattr(environments, "make", fail_first)
    assert environments.main(["small", "lifted"]) == 1
    assert calls == ["small", "lifted"]
    assert "small could not be installed: why" in capsys.readouterr().err


def test_every_recipe_names_exact_versions_of_the_peer():
    for name, recipe in environments.ENVIRONMENTS.items():
        peer = name.partition("_")[0]
        everything = (*recipe.packages, *recipe.alone, *recipe.built)
        assert any(package.startswith(f"{peer}==") for package in everything)


def test_modules_are_where_the_interpreter_looks(tmp_path):
    found = environments.site_packages(tmp_path)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    assert found == tmp_path / "lib" / version / "site-packages"


def test_the_module_needs_no_tensorflow():
    program = (
        "import sys, benchmarks.peers.environments; "
        "raise SystemExit('tensorflow' in sys.modules)"
    )
    root = pathlib.Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, env=os.environ, check=False
    )
    assert done.returncode == 0
