"""Whatever a file holds, a reader returns trees or raises its own error."""

import bz2
import contextlib
import gzip
import json
import lzma
import random

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from recursive_tf.data import (
    ForestError,
    ReadError,
    from_nested,
    load_vectors,
    read_conllu,
    read_json,
    read_lattices,
    read_ptb,
    read_reviews,
    read_sst,
    vocabulary,
)

TREES = "(3 (2 A) (3 (3 lovely) (2 film)))\n(4 Bravo)\n"
LONG = "9" * 5000
WORD = "{}\tAh\t_\t_\t_\t_\t{}\troot\t_\t_\n"
SAMPLES = {
    read_sst: TREES,
    read_ptb: "( (S\n    (NP (DT the) (NN dog))\n    (VP (VBZ barks))))\n",
    read_conllu: WORD.format(1, 2) + WORD.format(2, 0),
    read_json: '["a", {"token": "b", "children": ["c"]}]\n"d"\n',
    read_reviews: "1\tA lovely<br />film.\n0\tDull\n",
    read_lattices: "1\n3\n0 7 9\n0\n1 0 62\n2 1 480 0 3395\n",
}
READERS = list(SAMPLES)


def mutant(data, rng):
    """Returns bytes of which some are changed, added, gone, or said twice."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place, length = rng.randrange(len(data) + 1), rng.randint(1, 9)
        [change] = rng.choices(range(4))
        if change == 0:
            data[place : place + 1] = rng.randbytes(1)
        elif change == 1:
            del data[place:]
        elif change == 2:
            data[place:place] = rng.randbytes(length)
        else:
            data[place:place] = data[place : place + length]
    return bytes(data)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_damaged_gzip_is_never_an_error_of_another_library(written, on_error):
    whole = gzip.compress((TREES * 200).encode())
    refused = 0
    for seed in range(500):
        path = written(mutant(whole, random.Random(seed)))
        try:
            read_sst(path, on_error=on_error).load()
        except ReadError:
            refused += 1
    assert refused > (300 if on_error == "raise" else 100)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_damaged_text_is_never_an_error_of_another_library(written, reader):
    for seed in range(300):
        path = written(mutant(SAMPLES[reader].encode(), random.Random(seed)))
        for on_error in ("raise", "skip"):
            with contextlib.suppress(ReadError):
                reader(path, on_error=on_error).load().validate(dag=True)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["token", "label", "children", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
DTYPES = [tf.string, tf.int16, tf.int32, tf.uint8, tf.bool, tf.float16, tf.float64]


@settings(deadline=None, max_examples=200)
@given(values, *[st.sampled_from(DTYPES)] * 3)
def test_any_json_is_a_tree_or_refused(tmp_path_factory, value, tokens, labels, x):
    path = tmp_path_factory.mktemp("json") / "trees.json"
    path.write_text(json.dumps(value))
    with contextlib.suppress(ReadError):
        read_json(path, tokens=tokens, labels=labels, features={"x": x}).load()


def test_of_damaged_gzip_the_trees_before_are_kept(written, caplog):
    whole = gzip.compress((TREES * 2000).encode(), compresslevel=0)
    reader = read_sst(written(whole[: len(whole) // 2], "a.gz"), on_error="skip")
    forest = reader.load()
    assert 1900 < len(forest) < 2100
    [error] = reader.skipped
    assert 0 <= error.line - len(forest) <= 2
    assert "0 of" in caplog.text
    assert "left out, and the rest of damaged files (1); the first: " in caplog.text


def test_a_damaged_file_does_not_cost_the_others(written):
    cut = written(gzip.compress(TREES.encode())[:-12], "a.gz")
    reader = read_sst([cut, written("(1 good)")], on_error="skip")
    assert reader.load().tokens.numpy()[-1] == b"good"
    assert [error.path for error in reader.skipped] == [cut]


def test_nothing_but_damage_says_what_is_wrong(written):
    path = written(gzip.compress(TREES.encode())[:12])
    with pytest.raises(
        ReadError, match=r"no tree, once .* left out; the first: .*early"
    ):
        read_sst(path, on_error="skip").load()


@pytest.mark.parametrize(
    ("reader", "text", "complaint"),
    [
        (read_sst, f"({LONG} a)", "where a label belongs"),
        (read_conllu, WORD.format(LONG, 0), "where word 1 belongs"),
        (read_conllu, WORD.format(1, LONG), "of 1 words"),
        (read_lattices, f"1\n1\n{LONG}\n0\n", "is no integer"),
        (read_lattices, f"1\n{LONG}\n0\n0\n", "is no integer"),
    ],
)
def test_integers_of_thousands_of_digits_are_refused_shortly(
    written, reader, text, complaint
):
    with pytest.raises(ReadError, match=rf"line \d.*: .*9999 {complaint}") as error:
        reader(written(text)).load()
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("dtype", [tf.int32, tf.float32, tf.string])
@pytest.mark.parametrize("number", [LONG, "-" + LONG, "9" * 400])
def test_json_integers_that_no_dtype_has_are_refused(written, dtype, number):
    with pytest.raises(ReadError, match=r"line 1"):
        read_json(written(f"[1, {number}]"), tokens=dtype).load()


def test_a_feature_of_endless_depth_is_refused(written):
    deep = "[" * 50_000 + "]" * 50_000
    path = written(f'{{"token": "a", "x": {deep}}}')
    with pytest.raises(ReadError, match=r"the x \[.*is not int32"):
        read_json(path, features={"x": tf.int32}).load()


@pytest.mark.parametrize("children", ["ab", 3, {"a": 1}])
def test_children_are_a_list(children):
    with pytest.raises(ForestError, match=r"the root is \{'children': "):
        from_nested([{"children": children}])


def test_children_that_are_null_are_none(written):
    path = written('{"token": "a", "children": null}')
    assert read_json(path).load().to_nested() == ["a"]


@pytest.mark.parametrize(
    "encoding", ["klingon", "", "\0", None, "base64", "undefined", "utf-16", "cp037"]
)
def test_an_encoding_that_cannot_be_read_names_what_can(written, encoding):
    with pytest.raises(ForestError, match=r"Expected the name of an encoding .*utf-8"):
        read_sst(written(TREES), encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-7", "shift_jis", "idna", "unicode_escape"])
def test_bytes_that_are_no_text_are_refused_in_any_encoding(written, encoding):
    path = written(b"(0 " + b"\\x\x80\xff." * 20 + b")\n(1 a)\n")
    with pytest.raises(ReadError, match=f"line 1, column .* is not {encoding}"):
        read_sst(path, encoding=encoding).load()


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_what_is_not_compressed_with_gzip_is_named(written, compress):
    path = written(compress(TREES.encode()))
    with pytest.raises(
        ReadError, match=r"not with gzip\. .*unpack it with (bzip2|xz) -d"
    ):
        read_sst(path).load()


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ReadError, match="it is a folder, where a file was expected"):
        read_sst(tmp_path)


def test_no_files_are_refused():
    with pytest.raises(ForestError, match="expected the path of at least one"):
        read_sst([])


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_file_that_vanishes_is_an_error(written, tmp_path, cache, on_error):
    path = written(TREES)
    reader = read_sst(path, on_error=on_error)
    path.unlink()
    with pytest.raises(ReadError, match=r"trees\.txt: it cannot be read: No such file"):
        reader.load(cache=tmp_path / "cache" if cache else None)


def test_a_file_that_may_not_be_read_is_an_error(written, monkeypatch):
    reader = read_sst(written(TREES), on_error="skip")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ReadError, match="it cannot be read: Permission denied"):
        reader.load()


def test_vectors_in_damaged_gzip_are_refused(written):
    words = vocabulary(from_nested(["film"]))
    for seed in range(100):
        text = "".join(f"film{i} 0.1 0.2\n" for i in range(200))
        path = written(mutant(gzip.compress(text.encode()), random.Random(seed)))
        with contextlib.suppress(ReadError):
            load_vectors(path, words)
