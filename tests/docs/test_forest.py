"""docs/forest.md: its code runs, and prints what stands there."""

from tests.helpers.pages import run_page


def test_the_page_shows_what_its_code_prints(tmp_path):
    printed = run_page("forest.md", tmp_path).printed
    assert len(printed) == 11
    for shown, found in printed:
        assert shown == found
