"""check_lengths catches the file that became two, unless it says why it is one."""

import pathlib

import pytest

from check_lengths import LIMIT, violations

REPOSITORY = pathlib.Path(__file__).parents[2]
IS_LONG = f"is of over {LIMIT} lines, as it is one table."


def write(root: pathlib.Path, path: str, *head: str, length: int = LIMIT + 1) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    lines = [*head, *[""] * (length - len(head))]
    (root / path).write_text("\n".join(lines) + "\n")


def test_the_repository_keeps_its_files_short():
    assert violations(REPOSITORY) == []


@pytest.mark.parametrize(
    "path", ["tests/maps/test_rows.py", "recursive_tf/cc/base/mutex.h", "setup.py"]
)
def test_a_long_file_is_named_with_its_length(tmp_path, path):
    write(tmp_path, path)
    (line,) = violations(tmp_path)
    assert line.startswith(f"{path}: {LIMIT + 1} lines. Split it")


def test_a_file_may_have_as_many_lines_as_the_limit(tmp_path):
    write(tmp_path, "models/tree.py", length=LIMIT)
    assert violations(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("docs/tree.py", ['"""A tree.', "", IS_LONG.replace(" as", "\nas"), '"""']),
        (
            "tests/cc/tree_test.cc",
            ["#include <map>", "", "// A tree.", f"// {IS_LONG}"],
        ),
    ],
)
def test_a_long_file_may_say_why(tmp_path, path, head):
    write(tmp_path, path, *head, length=LIMIT + 9)
    assert violations(tmp_path) == []


def test_a_reason_in_a_later_comment_is_none(tmp_path):
    write(tmp_path, "recursive_tf/cc/a.cc", "// A tree.", "int i;", f"// {IS_LONG}")
    assert len(violations(tmp_path)) == 1
