"""Fails if a file is long and does not say why.

Of over 400 lines it is two files, unless its first docstring or comment says what it is
"of over 400 lines" for.

Usage: python tools/check_lengths.py [root]
"""

import ast
import pathlib
import re
import sys
from collections.abc import Iterator

LIMIT = 400
REASON = f"over {LIMIT} lines"
FOLDERS = (
    "benchmarks",
    "docs",
    "examples",
    "models",
    "recursive_tf",
    "tests",
    "tools",
)
SUFFIXES = {".c", ".cc", ".h", ".py"}
COMMENT = re.compile(r"(?:^[ \t]*//.*(?:\n|\Z))+", re.MULTILINE)


def violations(root: pathlib.Path) -> list[str]:
    """Returns one line for each long file without a reason."""
    found = []
    for path in sources(root):
        text = path.read_text()
        length = len(text.splitlines())
        if length > LIMIT and REASON not in first_words(path.suffix, text):
            found.append(
                f"{path.relative_to(root)}: {length} lines. Split it along an idea, or "
                f"let its first comment say why it is of {REASON}"
            )
    return found


def sources(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields the files that people write code in."""
    yield from sorted(root.glob("*.py"))
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path


def first_words(suffix: str, text: str) -> str:
    """Returns the docstring of a module, or the first comment of a C++ file.

    >>> first_words(".h", "#pragma once\\n// One\\n// idea.\\nint i;  // Two.\\n")
    'One idea.'
    """
    if suffix == ".py":
        words = ast.get_docstring(ast.parse(text)) or ""
    else:
        found = COMMENT.search(text)
        words = "" if found is None else found.group().replace("//", "")
    return " ".join(words.split())


if __name__ == "__main__":
    problems = violations(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(bool(problems))
