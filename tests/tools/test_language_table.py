"""language_table writes what tests say, and nothing that no test says."""

import sys
import types

import pytest

import language_table
from language_table import main, problems_of, row, section, table, with_table
from tests.language import features
from tests.language.features import EXECUTORS, Feature


def feature_of(test=None, section="Gradients", **says):
    none = {"gradients": False, "refused": None, "raises": None, "says": None}
    name = "test_it" if test is None else test.__name__
    return Feature(
        section, "a feature", **(none | says), module="tests.a.test_b", test=name
    )


def registered(monkeypatch, *marks):
    """Returns a row whose test is in a module of its own, with some marks."""

    def test_it():
        """Calls nothing."""

    made = feature_of(test_it)
    test_it.feature = made
    test_it.pytestmark = [mark.mark for mark in marks]
    module = types.ModuleType(made.module)
    module.test_it = test_it
    monkeypatch.setitem(sys.modules, made.module, module)
    return made


BOTH = pytest.mark.parametrize("executor", EXECUTORS, indirect=True)


# --- The page


def test_the_page_is_up_to_date_and_each_row_is_tested(capsys):
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_a_page_that_is_not_up_to_date_is_found_and_written(
    tmp_path, monkeypatch, capsys
):
    page = tmp_path / "page.md"
    page.write_text(f"above\n{language_table.BEGIN}old\n{language_table.END}below\n")
    monkeypatch.setattr(language_table, "PAGE", page)
    assert main(["--check"]) == 1
    assert capsys.readouterr().out == "page.md is not up to date. Run: make pages\n"
    assert main([]) == 0
    assert main(["--check"]) == 0
    written = page.read_text()
    assert written.startswith("above\n")
    assert written.endswith("below\n")
    assert "### Gradients" in written


def test_a_page_without_a_place_for_the_table_is_an_error():
    with pytest.raises(ValueError, match="The page lacks a line"):
        with_table("no place", [])


# --- Rows


def test_a_row_of_what_works():
    assert row(feature_of(gradients=True)) == "| a feature | yes | yes | yes | |"


def test_a_row_of_what_is_refused_has_the_reason():
    shown = row(feature_of(refused="it has an effect"))
    assert shown == "| a feature | yes | no |  | it has an effect |"


def test_a_row_of_what_is_not_supported_has_the_error():
    shown = row(feature_of(raises=KeyError, says="no key"))
    assert shown == "| a feature | no | no |  | `KeyError`: no key |"


def test_a_section_links_to_its_tests():
    assert "[a/test_b.py](../tests/a/test_b.py)" in section("A", [feature_of()])


def test_a_table_has_a_heading_for_each_section():
    rows = [feature_of(section=title) for title in ("Gradients", "Gradients", "Keras")]
    lines = table(rows).splitlines()
    headings = [line for line in lines if line.startswith("###")]
    assert headings == ["### Gradients", "### Keras"]
    assert lines.count(row(rows[0])) == 3


def test_sections_are_in_the_order_of_the_page():
    sections = [f.section for f in language_table.all_features()]
    assert sections == sorted(sections, key=features.SECTIONS.index)
    assert set(sections) == set(features.SECTIONS)


# --- Tests that are not run


def test_a_test_that_runs_in_both_executors_is_no_problem(monkeypatch):
    assert list(problems_of(registered(monkeypatch, BOTH, pytest.mark.slow))) == []


def test_a_test_that_does_not_run_in_both_executors_is_found(monkeypatch):
    (problem,) = problems_of(registered(monkeypatch))
    assert "does not run once in each executor" in problem


def test_a_test_that_is_skipped_is_found(monkeypatch):
    (problem,) = problems_of(registered(monkeypatch, BOTH, pytest.mark.skip))
    assert "may not be marked skip" in problem


def test_a_test_whose_name_was_taken_is_found(monkeypatch):
    made = registered(monkeypatch, BOTH)
    sys.modules[made.module].test_it = lambda: None
    (problem,) = problems_of(made)
    assert "another object took the name test_it" in problem
