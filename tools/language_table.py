"""Writes the table of docs/language.md from the tests with `@feature`.

Usage: python -m tools.language_table [--check]

With --check nothing is written: fails if the page is not up to date, or if it has a
row whose test is not run.
"""

import argparse
import importlib
import itertools
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from tests.language.features import EXECUTORS, Feature, registered_features

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "language.md"
BEGIN = "<!-- begin: `make pages` writes this from the tests with `@feature` -->\n"
END = "<!-- end -->\n"
_MAKES_ROWS = re.compile(r"^from tests\.language\.features import .*\bfeature\b", re.M)
# Other marks could keep a test from running.
MARKS = frozenset(("falls_back", "parametrize", "slow"))


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.language_table")
    parser.add_argument("--check", action="store_true", help="write nothing")
    checks = parser.parse_args(arguments).check
    features = all_features()
    problems = [problem for f in features for problem in problems_of(f)]
    text = PAGE.read_text()
    written = with_table(text, features)
    if checks and written != text:
        problems.append(f"{PAGE.name} is not up to date. Run: make pages")
    print("\n".join(problems), end="\n" if problems else "")
    if not (checks or problems):
        PAGE.write_text(written)
    return int(bool(problems))


def all_features() -> list[Feature]:
    """Imports the tests that make rows, and returns these."""
    for path in sorted((ROOT / "tests").glob("*/test_*.py")):
        if _MAKES_ROWS.search(path.read_text()):
            importlib.import_module(f"tests.{path.parent.name}.{path.stem}")
    return registered_features()


def problems_of(feature: Feature) -> Iterator[str]:
    """Yields why a row's test is not run in both executors, if it is not."""
    module = importlib.import_module(feature.module)
    test = getattr(module, feature.test, None)
    if getattr(test, "feature", None) is not feature:
        yield f"{feature.name}: another object took the name {feature.test}"
        return
    marks = [*_marks_of(module), *_marks_of(test)]
    others = {mark.name for mark in marks} - MARKS
    if others:
        yield f"{feature.name}: its test may not be marked {', '.join(sorted(others))}"
    runs = [
        m.args[1] for m in marks if m.name == "parametrize" and "executor" in m.args
    ]
    if runs != [EXECUTORS]:
        yield f"{feature.name}: its test does not run once in each executor"


def _marks_of(item: Any) -> list[Any]:
    """Returns pytest's marks of a module, which may be one mark, or of a test."""
    marks = getattr(item, "pytestmark", [])
    return marks if isinstance(marks, list) else [marks]


def with_table(text: str, features: list[Feature]) -> str:
    """Returns a page with its table written anew."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"The page lacks a line {BEGIN!r} or {END!r}.")
    return f"{before}{BEGIN}\n{table(features)}\n{END}{after}"


def table(features: list[Feature]) -> str:
    """Returns the sections in Markdown; rows of a section follow each other."""
    sections = itertools.groupby(features, lambda feature: feature.section)
    return "\n".join(section(title, list(rows)) for title, rows in sections)


def section(title: str, features: list[Feature]) -> str:
    """Returns a heading, and a table of rows."""
    files = sorted({f"{feature.module.replace('.', '/')}.py" for feature in features})
    links = ", ".join(f"[{file[len('tests/') :]}](../{file})" for file in files)
    lines = [
        f"### {title}\n",
        f"Tests: {links}.\n",
        "| | dataflow | batched | gradients | why not |",
        "|---|---|---|---|---|",
        *map(row, features),
    ]
    return "\n".join(lines) + "\n"


def row(feature: Feature) -> str:
    """Returns the line of a feature."""
    if feature.raises is not None:
        cells = ["no", "no", "", f"`{feature.raises.__name__}`: {feature.says}"]
    else:
        batched = "yes" if feature.refused is None else "no"
        gradients = "yes" if feature.gradients else ""
        cells = ["yes", batched, gradients, feature.refused or ""]
    return "| " + " | ".join([feature.name, *cells]).rstrip() + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
