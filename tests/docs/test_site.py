"""The site builds without a warning, has all pages, and no broken link within it."""

import functools
import html.parser
import os
import pathlib
import urllib.parse

import pytest

import recursive_tf as rtf
from tests.helpers.pages import DOCS

pytestmark = pytest.mark.slow


class Parsed(html.parser.HTMLParser):
    """The links and the anchors of a page.

    Attributes:
        links: What `href` and `src` name.
        anchors: What can be linked to on the page.
    """

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}


@functools.cache
def parsed(path):
    return Parsed(path.read_text(encoding="utf-8"))


def is_found(link, page):
    """Says whether what a page links to, within the site, is there."""
    address = urllib.parse.urlsplit(link)
    if address.scheme or address.netloc:
        return True
    path = urllib.parse.unquote(address.path)
    target = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
    if not target.is_file():
        return False
    anchor = urllib.parse.unquote(address.fragment)
    return not anchor or target.suffix != ".html" or anchor in parsed(target).anchors


def test_no_link_within_it_is_broken(site):
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 80
    links = [(page, link) for page in pages for link in parsed(page).links]
    broken = [
        f"{page.relative_to(site)}: {link}"
        for page, link in links
        if not is_found(link, page)
    ]
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert '<link rel="stylesheet" href="http' not in text


def test_every_page_of_the_docs_can_be_reached_from_home(site):
    reached = {link.partition("#")[0] for link in parsed(site / "index.html").links}
    pages = {f"{page.stem}.html" for page in DOCS.glob("*.md")}
    assert pages - reached == set()


@pytest.mark.parametrize(
    "notebook", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_a_notebook_has_a_page_with_what_it_printed_and_drew(site, notebook):
    page = site / "notebooks" / f"{notebook.stem}.html"
    text = page.read_text(encoding="utf-8")
    assert "language-text" in text
    assert "data:image/" in text
    assert notebook.name in parsed(page).links
    home = {link.partition("#")[0] for link in parsed(site / "index.html").links}
    assert f"notebooks/{notebook.stem}.html" in home


@pytest.mark.parametrize(
    "module", ["", ".data", ".layers", ".distribute", ".optimizers", ".training"]
)
def test_the_reference_has_every_public_name(site, module):
    name = f"recursive_tf{module}"
    anchors = parsed(site / "api" / f"{name}.html").anchors
    public = functools.reduce(getattr, module.split(".")[1:], rtf).__all__
    left_out = {"__version__", "data", "distribute", "layers", "optimizers", "training"}
    documented = {one.rpartition(".")[2] for one in anchors}
    assert len(public) > 2
    assert set(public) - left_out - documented == set()
    for name in set(public) - left_out:  # And not the module that has the same name.
        defined = getattr(functools.reduce(getattr, module.split(".")[1:], rtf), name)
        is_alias = hasattr(defined, "__origin__")  # Of a type, which is another's.
        if hasattr(defined, "__qualname__") and not is_alias:
            assert f"{defined.__module__}.{name}" in anchors


def test_examples_of_docstrings_are_code(site):
    page = (site / "api" / "recursive_tf.html").read_text(encoding="utf-8")
    assert "language-pycon" in page
    assert "<blockquote>\n<blockquote>" not in page


def test_search_finds_what_pages_say(site):
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    for word in ("LazyAdam", "register_vectorization", "CannotBatchError"):
        assert word in index
