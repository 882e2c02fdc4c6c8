"""Figures are medians, held against their targets and printed."""

import json

import pytest

from benchmarks import table
from benchmarks.figures import Figure, at_least, at_most, number


def test_a_figure_is_the_median_of_its_runs():
    assert Figure("f", "s", [5.0, 1.0, 2.0]).median == 2.0
    assert Figure("f", "s", [4.0, 1.0, 2.0, 3.0]).median == 2.5


@pytest.mark.parametrize(
    ("target", "reached"),
    [(at_most(2), True), (at_most(1.9), False), (at_least(2), True), (None, None)],
)
def test_the_median_is_held_against_the_target(target, reached):
    assert Figure("f", "s", [9.0, 2.0, 1.0], target).is_reached is reached


def test_a_figure_that_says_nothing_neither_reaches_nor_misses():
    figure = Figure("f", "s", [1.0], at_most(2), is_valid=False)
    assert figure.is_reached is None


def test_numbers_have_three_digits_or_all_before_the_point():
    assert [number(x) for x in (2.0, 0.01234, 150321.7)] == ["2", "0.0123", "150322"]


def test_a_line_has_a_cell_for_each_column():
    figure = Figure("f", "s", [2.0, 1.0, 3.0], at_most(1), "why")
    assert table.line(figure) == "| f | s | at most 1 | 2 | 1 | 3 | **no** | why |"
    assert table.line(figure).count("|") == table.HEADER[0].count("|")


def test_json_has_every_run(tmp_path):
    path = tmp_path / "figures.json"
    figure = Figure("f", "s", [2.0, 1.0], at_least(1))
    table.write_json(path, {"row": [figure]}, {"repeats": 2}, {"revision": "abc"})
    (written,) = json.loads(path.read_text())["rows"]["row"]
    assert written["runs"] == [2.0, 1.0]
    assert written["median"] == 1.5
    assert written["reached"] is True
