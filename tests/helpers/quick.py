"""Which tests `--quick` runs: those of what changed, and one of each other file."""

import pathlib
import subprocess
from collections.abc import Iterable, Sequence

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Whose tests start processes, or take seconds each: only if something there changed.
NO_SMOKE = frozenset(("benchmarks", "distribute", "models", "stress", "tools"))
SLOW = ("slow", "large", "stress")


def chosen(items: Sequence[pytest.Item], changed: Iterable[str]) -> list[pytest.Item]:
    """Returns the tests of changed files, and then the first of each other file.

    Args:
        items: All tests; none of those that are slow is returned.
        changed: Paths below the project's folder.
    """
    by_file: dict[pathlib.Path, list[pytest.Item]] = {}
    for item in items:
        if not any(mark.name in SLOW for mark in item.iter_markers()):
            by_file.setdefault(item.path, []).append(item)
    touched = touched_by(changed, by_file)
    smoke = [
        own[0]
        for path, own in by_file.items()
        if path not in touched and path.parent.name not in NO_SMOKE
    ]
    return [item for path in touched for item in by_file[path]] + smoke


def touched_by(
    changed: Iterable[str], tests: Iterable[pathlib.Path]
) -> list[pathlib.Path]:
    """Returns the files of tests that are, are named after, or import what changed."""
    texts = {path: path.read_text(encoding="utf-8") for path in tests}
    paths = [path for path in map(pathlib.Path, changed) if path.suffix == ".py"]

    def is_about(test: pathlib.Path, path: pathlib.Path) -> bool:
        is_own = test == ROOT / path or test.stem == f"test_{path.stem}"
        return is_own or ".".join(path.with_suffix("").parts) in texts[test]

    return [test for test in texts if any(is_about(test, path) for path in paths)]


def changed_files() -> list[str]:
    """Returns what differs from the main branch, committed or not.

    Returns:
        Paths below the project's folder; nothing where there is no git.
    """
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    return _git("diff", "--name-only", base[0]) + _git(
        "ls-files", "--others", "--exclude-standard"
    )


def _git(*arguments: str) -> list[str]:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
