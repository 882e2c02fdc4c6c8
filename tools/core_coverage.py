"""Counts which lines of the core its tests have run, with gcov."""

import collections
import json
import pathlib
import subprocess
from collections.abc import Iterable
from typing import Any

from cc_build import ROOT

SOURCES = "recursive_tf/cc/"

# File -> line -> how often it ran, in all programs together.
Counts = dict[str, dict[int, int]]


def clear(folder: pathlib.Path) -> None:
    """Forgets earlier runs: gcov adds to what it finds."""
    for path in (ROOT / folder).rglob("*.gcda"):
        path.unlink()


def report(folder: pathlib.Path) -> None:
    """Prints the share of each file's lines that ran, and the lines that did not."""
    counts = merge(gcov_files(folder))
    for file, lines in sorted(counts.items()):
        missed = sorted(line for line, count in lines.items() if not count)
        share = 100 * (1 - len(missed) / len(lines))
        where = f"  not run: {', '.join(map(str, missed))}" if missed else ""
        print(f"{share:6.1f}%  {file}{where}")


def gcov_files(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Returns gcov's record of each source file, once for each program in `folder`."""
    files = []
    for path in sorted((ROOT / folder).rglob("*.gcda")):
        done = subprocess.run(
            ["gcov", "--json-format", "--stdout", path.relative_to(ROOT)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            check=True,
        )
        files += json.loads(done.stdout)["files"]
    return files


def merge(files: Iterable[dict[str, Any]]) -> Counts:
    """Returns how often each line of the core ran.

    A template has one record for each instantiation: a line has run if it ran in
    any of them.
    """
    counts: Counts = collections.defaultdict(lambda: collections.defaultdict(int))
    for file in files:
        name = file["file"].removeprefix("./")
        if name.startswith(SOURCES):
            for line in file["lines"]:
                counts[name][line["line_number"]] += line["count"]
    return counts
