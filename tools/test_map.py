"""Writes tests/README.md: what each file of tests says of itself, by folder.

Usage: python -m tools.test_map
"""

import ast
import pathlib
from collections.abc import Iterator

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests"
PAGE = TESTS / "README.md"
HEAD = """# Where the tests are

A folder is a feature; what is of one feature stands in its folder, for both executors,
values and gradients alike. `make pages` writes this page from the first lines of files.
"""


def page(tests: pathlib.Path) -> str:
    """Returns the page for a folder of folders of tests."""
    folders = sorted({path.parent for path in tests.glob("**/test_*.py")})
    return HEAD + "".join(
        f"\n## {folder.relative_to(tests)}\n\n" + "".join(_lines(folder, tests))
        for folder in folders
    )


def _lines(folder: pathlib.Path, tests: pathlib.Path) -> Iterator[str]:
    """Yields a line for each file of a folder.

    Raises:
        ValueError: If a file does not say what it tests.
    """
    for path in sorted(folder.glob("test_*.py")):
        said = ast.get_docstring(ast.parse(path.read_text()))
        if not said:
            raise ValueError(f"{path} lacks a docstring that says what it tests.")
        yield f"- [{path.stem}]({path.relative_to(tests)}): {_first(said)}\n"


def _first(docstring: str) -> str:
    """Returns the first line of a docstring."""
    return docstring.split("\n", maxsplit=1)[0]


if __name__ == "__main__":
    PAGE.write_text(page(TESTS))
