"""docs/batching.md: its code runs, and prints what stands there."""

import re

from tests.helpers.pages import run_page
from tests.helpers.rules import restored_rules


def without_figures(text):
    """Returns a text without what differs from run to run: also where lines end."""
    return re.sub(r"\d+\.\d\d|\d+\.\d kB", "#", " ".join(text.split()))


def test_the_page_shows_what_its_code_prints(tmp_path):
    with restored_rules():
        printed = run_page("batching.md", tmp_path).printed
    assert len(printed) == 2
    for shown, found in printed:
        assert without_figures(shown) == without_figures(found)
    assert (tmp_path / "runs" / "step.json").exists()
