"""What is missing is installed if it can be, and its package is named if not."""

import sys

import pytest

import debian_bazel
import debian_packages
import googletest
from cc_build import BuildError

Commands = list[tuple[str, ...]]


@pytest.fixture
def commands(monkeypatch) -> Commands:
    """A Debian where apt-get only writes down here what it is asked for."""
    run: Commands = []
    monkeypatch.setattr(debian_packages, "run_apt", run.append)
    monkeypatch.setattr(debian_packages.shutil, "which", lambda name: f"/bin/{name}")
    return run


@pytest.fixture
def user(monkeypatch) -> None:
    monkeypatch.setattr(debian_packages.os, "geteuid", lambda: 1000)


@pytest.fixture
def root(monkeypatch) -> None:
    monkeypatch.setattr(debian_packages.os, "geteuid", lambda: 0)


@pytest.fixture
def no_googletest(monkeypatch, commands) -> None:
    monkeypatch.setattr(googletest, "is_installed", lambda: bool(commands))


@pytest.fixture
def no_bazel(monkeypatch, commands, tmp_path) -> None:
    absent = tmp_path / "bazel"
    monkeypatch.setattr(debian_bazel, "missing", lambda: [] if commands else [absent])


def test_root_installs_after_one_update(commands, root):
    debian_packages.install("Bread", ["flour", "water"], "bake it.")
    update, install = commands
    assert update[:2] == ("apt-get", "update")
    assert install[:2] == ("apt-get", "install")
    assert install[-2:] == ("flour", "water")


def test_anyone_else_is_told_what_to_run(commands, user):
    with pytest.raises(BuildError, match="apt-get install -y flour water"):
        debian_packages.install("Bread", ["flour", "water"], "bake it.")
    assert commands == []


def test_where_there_is_no_debian_another_way_is_named(commands, root, monkeypatch):
    monkeypatch.setattr(debian_packages.shutil, "which", lambda name: None)
    with pytest.raises(BuildError, match=r"Bread is not installed.*bake it\."):
        debian_packages.install("Bread", ["flour"], "bake it.")
    assert commands == []


def test_an_apt_get_that_fails_is_shown():
    script = (sys.executable, "-c", "print('no such package'); exit(100)")
    with pytest.raises(BuildError, match=r"no such package[^`]*`.*` failed"):
        debian_packages.run_apt(script)


def test_googletest_is_installed_where_it_is_missing(commands, root, no_googletest):
    googletest.ensure()
    assert commands[-1][-1] == "libgtest-dev"


def test_googletest_is_left_alone_where_it_is(commands, root, monkeypatch):
    monkeypatch.setattr(googletest, "is_installed", lambda: True)
    googletest.ensure()
    assert commands == []


def test_bazel_is_installed_where_it_is_missing(commands, root, no_bazel):
    debian_bazel.ensure()
    assert commands[-1][-2:] == ("bazel-bootstrap", "bazel-rules-java")


def test_bazel_is_left_alone_where_it_is(commands, root, monkeypatch):
    monkeypatch.setattr(debian_bazel, "missing", list)
    debian_bazel.ensure()
    assert commands == []


def test_packages_that_hold_something_else_are_an_error(commands, root, monkeypatch):
    absent = debian_bazel.BAZEL
    monkeypatch.setattr(debian_bazel, "missing", lambda: [absent])
    with pytest.raises(BuildError, match=f"there is no {absent}"):
        debian_bazel.ensure()
