"""What figures say of their origin holds on any machine."""

import re

import pytest

from benchmarks import pages
from benchmarks.origin import origin

# Of a machine: a folder below its root, where an absolute path may begin.
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(work|tmp|root|home|mnt|data)/")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--data", "/somewhere/else/data", "--batch=3"], "--data data --batch=3"),
        (["--data=/somewhere/else/data"], "--data=data"),
        (["--data", "sst", "--json", "/somewhere/found.json"], "--data sst"),
    ],
)
def test_a_command_has_no_folders_of_a_machine(arguments, shown):
    found = origin("benchmarks.ed_batch", arguments)
    assert found["command"] == f"python -m benchmarks.ed_batch {shown}"


def test_neither_pages_nor_figures_have_paths_of_a_machine():
    docs = pages.ROOT / "docs"
    files = [pages.ROOT / "README.md", *docs.glob("*.md"), *docs.rglob("*.json")]
    assert len(files) > len(pages.PAGES)
    for file in files:
        assert not MACHINE_PATH.search(file.read_text(encoding="utf-8")), file.name
