"""The bugs that are planted are eleven, and stand in lines that the project has."""

import pathlib

import pytest

import planted_bugs
from cc_build import ROOT


@pytest.mark.parametrize("bug", planted_bugs.BUGS, ids=lambda bug: bug.name)
def test_a_bug_has_its_place(bug):
    text = (ROOT / bug.file).read_text()
    assert planted_bugs.planted(bug, text) != text


def test_a_bug_of_c_plus_plus_is_looked_for_by_c_plus_plus_tests():
    for bug in planted_bugs.BUGS:
        if bug.file.is_relative_to(planted_bugs.CC):
            assert (ROOT / planted_bugs.CC_TESTS[bug.file.parent]).exists()


def test_there_are_eleven():
    assert len({bug.name for bug in planted_bugs.BUGS}) == 11


def test_a_bug_without_a_place_is_an_error():
    bug = planted_bugs.Bug("b", pathlib.Path("f.h"), "a line", "another")
    with pytest.raises(RuntimeError, match="has 'a line' not just once"):
        planted_bugs.planted(bug, "a line; a line")


def test_only_known_bugs_are_planted(capsys):
    assert planted_bugs.main(["none"]) == 2
    assert "Usage:" in capsys.readouterr().out
