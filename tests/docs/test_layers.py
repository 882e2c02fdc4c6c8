"""docs/layers.md: its code runs, and prints what stands there."""

import pytest

from tests.helpers.pages import run_page


@pytest.mark.slow
def test_the_page_shows_what_its_code_prints(tmp_path):
    printed = run_page("layers.md", tmp_path).printed
    assert len(printed) == 7
    for shown, found in printed:
        assert shown == found
