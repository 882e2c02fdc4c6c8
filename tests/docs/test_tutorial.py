"""docs/tutorial.md: its code trains a model, and prints and draws what stands there."""

import re
import subprocess
import sys

import pytest

from tests.helpers.pages import DOCS, run_page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return run_page("tutorial.md", tmp_path_factory.mktemp("tutorial"))


def test_it_shows_what_its_code_prints(page):
    assert len(page.printed) == 6
    for shown, printed in page.printed:
        assert shown == printed


def test_the_model_learns(page):
    assert page.names["scores"]["accuracy"] > 0.95


def test_the_model_of_sentences_learns(page):
    assert page.names["of_dev"]["sentence_accuracy"] > 0.9


def test_its_pictures_are_made_by_its_code(page):
    names = re.findall(r"\(pictures/(.*?)\)", (DOCS / "tutorial.md").read_text())
    assert names == ["trees.png", "curve.png", "tree.svg"]
    for name in names:
        assert (page.names["folder"] / name).stat().st_size > 0
        assert (DOCS / "pictures" / name).exists()
    drawn = (page.names["folder"] / "tree.svg").read_text()
    assert drawn == (DOCS / "pictures" / "tree.svg").read_text()


def test_another_process_serves_the_model(page):
    run = subprocess.run(
        [sys.executable, "-c", page.names["program"]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "(3, 3)\n", run.stderr[-2000:]
