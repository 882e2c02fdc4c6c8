"""docs/distributed.md: its code runs."""

import pytest

from tests.helpers.pages import run_page


@pytest.mark.slow
def test_the_pages_code_runs(tmp_path):
    names = run_page("distributed.md", tmp_path).names
    assert len(names["model"].history.history["loss"]) == 1
