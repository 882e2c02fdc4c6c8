"""What all readers do: files, gzip, errors, skipping, datasets."""

import gzip
import logging
import os

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import ReadError, read_sst
from tests.data.examples import assert_same

GOOD = "(3 (2 A) (3 (3 lovely) (2 film)))\n(4 Bravo)\n"
BAD = "(4 Bravo)\n(1 (2 a)\n(0 b)\n(x c)\n(2 d)\n"


def test_a_dataset_has_the_trees_that_load_has(written):
    reader = read_sst(written(GOOD * 300))
    forest = reader.load()
    dataset = reader.dataset()
    assert dataset.element_spec == tf.type_spec_from_value(forest[0])
    assert_same(rtf.data.concat(list(dataset.batch(100))), forest)
    assert len(list(dataset.batch(100))) == 6  # It can be read again.


def test_several_files_are_read_in_order(written):
    files = [written("(0 a)", "1.txt"), str(written("(1 b)\n\n(2 c)", "2.txt"))]
    assert read_sst(files).load().labels.numpy().tolist() == [0, 1, 2]


def test_gzip_is_read_whatever_the_name(written):
    path = written(gzip.compress(GOOD.encode()), "trees")
    assert_same(read_sst(path).load(), read_sst(written(GOOD)).load())


def test_gzip_that_ends_too_early_is_an_error(written):
    compressed = gzip.compress(os.urandom(9).hex().encode() * 999)[:40]
    with pytest.raises(ReadError, match=r"trees\.gz, line 1: it cannot be read: Compr"):
        read_sst(written(compressed, "trees.gz")).load()


def test_unicode_windows_lines_and_a_byte_order_mark_are_read(written):
    path = written(b"\xef\xbb\xbf(1 (0 caf\xc3\xa9) (1 \xe5\x8c\x97))\r\n(2 x)\r\n")
    nested = read_sst(path).load().to_nested()
    assert [child["token"] for child in nested[0]["children"]] == ["café", "北"]
    assert nested[1] == {"token": "x", "label": 2}


def test_another_encoding_is_read_if_it_is_named(written):
    path = written("(0 é)".encode("latin-1"))
    assert read_sst(path, encoding="latin-1").load()[0].to_nested()["token"] == "é"
    with pytest.raises(ReadError, match=r"line 1, column 4: byte 0xe9 is not utf-8"):
        read_sst(path).load()


def test_an_error_says_where_and_what_was_expected(written):
    path = written(BAD)
    with pytest.raises(ReadError) as error:
        read_sst(path).load()
    assert str(error.value) == (
        f"{path}, line 2, column 9: the end of the tree with 1 brackets open, the last "
        "one since line 2, column 1. Expected a tree '(label word)' or '(label tree "
        "tree)'."
    )
    assert (error.value.line, error.value.column) == (2, 9)


def test_a_dataset_gives_the_trees_before_an_error_and_then_the_error(written):
    trees = iter(read_sst(written(BAD)).dataset())
    assert next(trees).to_nested()["token"] == "Bravo"
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"line 2, column 9: the end"
    ):
        next(trees)


def test_skipping_leaves_out_what_is_wrong_and_reports_it(written, caplog):
    reader = read_sst(written(BAD), on_error="skip")
    with caplog.at_level(logging.WARNING):
        assert reader.load().labels.numpy().tolist() == [4, 0, 2]
    assert [(error.line, error.column) for error in reader.skipped] == [(2, 9), (4, 2)]
    [record] = caplog.records
    assert "2 of 5 trees are left out; the first: " in record.getMessage()
    reader.load()
    assert len(reader.skipped) == 2  # Of the last pass.


def test_bytes_that_are_no_text_spoil_one_tree_alone(written):
    reader = read_sst(written(b"(0 a)\n(1 \xff)\n(2 c)\n"), on_error="skip")
    assert reader.load().labels.numpy().tolist() == [0, 2]


def test_a_file_that_is_not_there_or_empty_is_named(written, tmp_path):
    with pytest.raises(ReadError, match=r"no\.txt: there is no such file"):
        read_sst(tmp_path / "no.txt")
    with pytest.raises(ReadError, match=r"trees\.txt: there is no tree\. Expected"):
        read_sst(written("\n\n")).load()


def test_on_error_is_one_of_two_words(written):
    with pytest.raises(ValueError, match=r'"raise" or "skip"\. Got .ignore'):
        read_sst(written(GOOD), on_error="ignore")
