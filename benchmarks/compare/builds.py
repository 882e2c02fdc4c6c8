"""Revisions as packages that can be imported, built once each.

A cache has a folder for each commit, with the Python files and the library of
`recursive_tf`, and `tree`, a clone in which they are built one after the other. Git
writes only the files that differ between two revisions, and the build compiles only
what changed since the last one; so a second revision takes seconds where the first took
minutes. The repository itself gets no worktree.
"""

import contextlib
import fcntl
import importlib.metadata
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
# `make clean` removes it.
CACHE = ROOT / "build" / "compare"
PACKAGE = "recursive_tf"
# A build is the project's own, whatever flags another one was given.
_NOT_FOR_BUILDS = ("CXXFLAGS", "PYTHONPATH")


class BuildError(Exception):
    """There is no such revision, or it does not build."""


def commit_of(revision: str) -> str:
    """Returns the full name of a commit.

    Args:
        revision: Anything that git takes for one, e.g. `HEAD~3`.

    Raises:
        BuildError: If git does not know it.
    """
    ask = ["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", "--end-of-options"]
    found = subprocess.run(
        [*ask, f"{revision}^{{commit}}"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise BuildError(
            f"{revision!r} is no revision of {ROOT}: git finds no such commit. "
            "`git log --oneline --all` lists them; `git fetch` brings those of others."
        )
    return found.stdout.strip()


def environment() -> dict[str, str]:
    """Returns the environment of builds and of git, which a hook would mislead."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _NOT_FOR_BUILDS and not name.startswith("GIT_")
    }


def folder_of(commit: str, cache: pathlib.Path = CACHE) -> pathlib.Path:
    """Returns the folder from which the package of a commit is imported, built or not.

    A library fits one TensorFlow, which is part of the name.
    """
    version = importlib.metadata.version("tensorflow")
    return cache / f"{commit}-tensorflow-{version}"


def built(commit: str, cache: pathlib.Path = CACHE) -> pathlib.Path:
    """Returns the folder of a commit's package, which is built if it is not there.

    Raises:
        BuildError: If it does not build; what the compiler said is on stderr.
    """
    folder = folder_of(commit, cache)
    with _only_one(cache):
        if not folder.exists():
            tree = _checked_out(commit, cache / "tree")
            _run(
                [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"], tree
            )
            _keep(tree / PACKAGE, folder)
    return folder


@contextlib.contextmanager
def _only_one(cache: pathlib.Path) -> Iterator[None]:
    """Waits until nobody else builds in a cache. The lock ends with the process."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _checked_out(commit: str, tree: pathlib.Path) -> pathlib.Path:
    """Returns the clone, with the files of a commit and the objects of the last one."""
    if not (tree / ".git" / "HEAD").exists():
        shutil.rmtree(tree, ignore_errors=True)
        clone = ["git", "clone", "--quiet", "--shared", "--no-checkout"]
        _run([*clone, str(ROOT), str(tree)], ROOT)
    # Left behind by a git that was killed.
    (tree / ".git" / "index.lock").unlink(missing_ok=True)
    _run(["git", "checkout", "--quiet", "--force", "--detach", commit], tree)
    _run(["git", "clean", "--quiet", "-fd"], tree)
    return tree


def _run(command: Sequence[str], folder: pathlib.Path) -> None:
    """Runs a command that ends, with all that it started, when this does."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment(),
        stdout=sys.__stderr__,
        start_new_session=True,
    ) as process:
        try:
            status = process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if status:
        raise BuildError(
            f"`{' '.join(command)}` failed in {folder} with status {status}; what it "
            "said is above. Without that folder, it starts from nothing."
        )


def _keep(package: pathlib.Path, folder: pathlib.Path) -> None:
    """Copies what of a package is imported, as a whole or not at all."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    ignore = shutil.ignore_patterns("cc", "__pycache__")
    shutil.copytree(package, partial / PACKAGE, ignore=ignore)
    partial.rename(folder)
