"""docs/vertex.md: its code runs, prints what stands there, and is as long as said."""

from tests.helpers.pages import run_page
from tools.vertex_lines import BEGIN, END, PAGE, lines_of, main, table, with_table


def test_the_page_shows_what_its_code_prints(tmp_path):
    printed = run_page("vertex.md", tmp_path).printed
    assert len(printed) == 9
    for shown, found in printed:
        assert shown == found


def test_the_page_counts_its_lines():
    assert main(["--check"]) == 0
    rows = table(PAGE.read_text()).splitlines()
    assert len(rows) == 2 + 5 + 1


def test_a_page_that_is_not_up_to_date_is_written():
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    stale = before + BEGIN + "| a stale row |\n" + END + rest.partition(END)[2]
    assert with_table(stale) == text
    assert lines_of("\n\na\n  b\n") == 2
