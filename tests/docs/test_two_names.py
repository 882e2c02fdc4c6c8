"""`SubGraph` and `subgraph` differ by case only: each page says which is which."""

import re

import pytest

from tests.helpers.pages import DOCS

PAGES = [DOCS.parent / "README.md", DOCS.parent / "examples/README.md"]
PAGES += sorted(DOCS.glob("*.md"))
NAME = re.compile(r"\bSubGraph\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_that_uses_a_name_says_by_then_which_is_the_class(page):
    paragraphs = page.read_text().split("\n\n")
    uses = [i for i, text in enumerate(paragraphs) if NAME.search(text)]
    if not uses:
        return
    before = " ".join(" ".join(paragraphs[: uses[0] + 1]).split())
    assert "rtf.SubGraph`" in before
    assert "class" in before
    assert "decorator" in before
