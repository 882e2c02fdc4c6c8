"""No page has code that nobody runs: its blocks are read by a test, which names it."""

import re

import pytest

from tests.helpers.pages import DOCS, run_page

ROOT = DOCS.parent
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "examples/README.md"])
WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text()]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_a_page_with_code_is_run_by_a_test(page):
    runs = re.compile(rf'run_page\(\s*"(?:\.\./)?{page.name}"|"{page.name}"')
    tests = [path.read_text() for path in (ROOT / "tests/docs").glob("test_*.py")]
    assert any(runs.search(text) and "run" in text for text in tests)


def test_the_pages_that_have_code_are_many():
    assert len(WITH_CODE) > 12


@pytest.mark.parametrize("name", ["blocks.md", "language.md"])
def test_a_page_of_one_program_shows_what_it_prints(name, tmp_path):
    (shown, found), *others = run_page(name, tmp_path).printed
    assert shown == found
    assert others == []
