"""Writes the table of docs/vertex.md: lines of vertex functions, and of SubGraphs.

Usage: python -m tools.vertex_lines [--check]

It counts the blocks of code on the page that follow "As a vertex function" and "As a
SubGraph", without empty lines. With --check nothing is written: fails if the page is
not up to date.
"""

import argparse
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "vertex.md"
BEGIN = "<!-- begin: `make pages` writes this from the page -->\n"
END = "<!-- end -->\n"
HEAD = "| model | vertex function | SubGraph |\n|---|---|---|\n"
KINDS = ("As a vertex function", "As a SubGraph")
_BLOCK = r"[^`]*?:\n\n```python\n(.*?)```"


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.vertex_lines")
    parser.add_argument("--check", action="store_true", help="write nothing")
    checks = parser.parse_args(arguments).check
    text = PAGE.read_text()
    written = with_table(text)
    if checks and written != text:
        print(f"{PAGE.name} is not up to date. Run: make pages")
        return 1
    if not checks:
        PAGE.write_text(written)
    return 0


def with_table(text: str) -> str:
    """Returns the page with the table that is true of it."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table(text) + END + after


def table(text: str) -> str:
    """Returns a row for each section of a page that has both forms, and their sum."""
    counts = {}
    for section in text.split("\n## ")[1:]:
        blocks = [re.search(kind + _BLOCK, section, re.S) for kind in KINDS]
        found = [block.group(1) for block in blocks if block is not None]
        if len(found) == len(KINDS):
            counts[section.partition("\n")[0]] = [lines_of(code) for code in found]
    counts["together"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = (f"| {name} | {a} | {b} |\n" for name, (a, b) in counts.items())
    return HEAD + "".join(rows)


def lines_of(code: str) -> int:
    """Returns the number of lines that are not empty.

    >>> lines_of("a = 1\\n\\nb = 2\\n")
    2
    """
    return sum(bool(line.strip()) for line in code.splitlines())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
