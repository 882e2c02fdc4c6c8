"""docs/policies.md: its code runs, and prints what stands there."""

from tests.helpers.pages import run_page


def test_the_page_shows_what_its_code_prints(tmp_path):
    page = run_page("policies.md", tmp_path)
    assert len(page.printed) == 1
    for shown, found in page.printed:
        assert shown == found
    assert page.names["again"] == page.names["policy"]
    assert (tmp_path / "policy.png").exists()
