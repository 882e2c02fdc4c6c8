"""docs/own_model.md: its code trains models, and prints what stands there."""

import pytest

from tests.helpers.pages import run_page


@pytest.mark.slow
def test_the_page_shows_what_its_code_prints(tmp_path):
    printed = run_page("own_model.md", tmp_path).printed
    assert len(printed) == 2
    for shown, found in printed:
        assert found.endswith(shown)  # After what training prints.
