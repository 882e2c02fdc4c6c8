"""docs/schedules.md: its code runs, and prints what stands there."""

from tests.helpers.pages import run_page


def test_the_page_shows_what_its_code_prints(tmp_path):
    page = run_page("schedules.md", tmp_path)
    assert len(page.printed) == 3
    profile = page.names["profile"]
    table, found = page.printed[0][1], page.printed[0][0]
    assert table.startswith("Measured on")
    assert table.endswith(found)
    for shown, found in page.printed[1:]:
        assert shown == found
    assert (tmp_path / "profile.json").exists()
    assert str(profile) in table
