"""docs/how_it_batches.md: its code runs, and its picture is of the run it describes."""

import re

import pytest

import recursive_tf as rtf
from tests.helpers.pages import DOCS, run_page
from tools import batching_strip


def without_times(text):
    """Returns a text without what differs from run to run."""
    return re.sub(r"\d+\.\d\d|\d+%", "#", " ".join(text.split()))


@pytest.fixture(scope="module")
def run():
    return batching_strip.launches(rtf.data.from_nested(batching_strip.SENTENCES))


def test_the_page_shows_what_its_code_prints(tmp_path):
    page = run_page("how_it_batches.md", tmp_path)
    ((shown, found),) = page.printed
    assert without_times(shown) == without_times(found)
    assert sum(page.names["explanation"].launches.values()) == 4


def test_the_picture_has_the_turns_that_the_page_tells(run):
    assert [part for part, _ in run] == ["look"] * 4 + ["leaf"] + ["inner"] * 3
    assert [len(nodes) for _, nodes in run] == [2, 4, 6, 2, 8, 3, 2, 1]


def test_each_node_is_in_the_launches_of_its_kind_once(run):
    looked = [node for part, nodes in run if part == "look" for node in nodes]
    computed = [node for part, nodes in run if part != "look" for node in nodes]
    assert sorted(looked) == list(range(14))
    assert sorted(computed) == list(range(14))


def test_it_draws_a_panel_for_each_launch(run):
    trees = rtf.data.from_nested(batching_strip.SENTENCES)
    figure = batching_strip.draw(trees, run)
    titles = [panel.get_title() for panel in figure.axes]
    assert titles[4] == "5. read words: 8 rows"
    assert titles[-1] == "8. join children: 1 row"
    picture = DOCS / "pictures" / batching_strip.PICTURE.name
    assert picture.stat().st_size > 0
