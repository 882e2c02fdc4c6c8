"""The page that says where tests are names all of them, and what they say."""

import pytest

import test_map


def test_the_page_is_up_to_date():
    assert test_map.PAGE.read_text() == test_map.page(test_map.TESTS)


def test_a_folder_is_a_heading_and_a_file_a_line(tmp_path):
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "test_rows.py").write_text('"""Rows map.\n\nMore."""\n')
    written = test_map.page(tmp_path)
    assert written.endswith("## maps\n\n- [test_rows](maps/test_rows.py): Rows map.\n")


def test_a_link_to_a_folder_in_a_folder_starts_at_the_page(tmp_path):
    (tmp_path / "maps" / "wide").mkdir(parents=True)
    (tmp_path / "maps" / "wide" / "test_rows.py").write_text('"""Rows map."""\n')
    written = test_map.page(tmp_path)
    assert "## maps/wide\n\n- [test_rows](maps/wide/test_rows.py)" in written


def test_a_file_without_a_docstring_is_an_error(tmp_path):
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "test_rows.py").write_text("")
    with pytest.raises(ValueError, match="says what it tests"):
        test_map.page(tmp_path)
