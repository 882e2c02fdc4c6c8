"""A cache saves parsing, and is never in the way."""

import logging
import os
import random
import resource
import time

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import read_conllu, read_json, read_sst
from recursive_tf.data.readers import cache as caches
from tests.data.examples import assert_same

GOOD = "(3 (2 A) (3 (3 lovely) (2 film)))\n(4 Bravo)\n"
WORDS = "1\tAh\t_\tX\t_\t_\t0\troot\t_\t_\n2\t!\t_\tY\t_\t_\t1\tx\t_\t_\n"


def test_a_cache_is_used_until_a_file_changes(written, tmp_path, monkeypatch):
    path = written(GOOD)
    forest = read_sst(path).load(cache=tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(rtf.data.TreeReader, "_parse", lambda _: pytest.fail("parsed"))
        assert_same(read_sst(path).load(cache=tmp_path / "cache"), forest)
    written("(0 new)")
    os.utime(path, (time.time() + 9, time.time() + 9))
    assert len(read_sst(path).load(cache=tmp_path / "cache")) == 1


def test_a_cache_tells_formats_and_settings_apart(written, tmp_path):
    path = written('"a"\n')
    read_json(path).load(cache=tmp_path)
    labeled = read_json(path, labels=tf.int32).load(cache=tmp_path)
    np.testing.assert_array_equal(labeled.labels, [-1])


def test_a_cache_whose_writing_was_interrupted_is_no_cache(
    written, tmp_path, monkeypatch
):
    reader, cache = read_sst(written(GOOD)), tmp_path / "cache"

    def interrupted(array):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(tf.io, "serialize_tensor", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reader.load(cache=cache)
    assert list(cache.iterdir()) == []
    assert_same(reader.load(cache=cache), reader.load())
    assert len(list(cache.iterdir())) == 1


def test_a_cache_has_all_that_trees_have(written, tmp_path):
    reader = read_conllu(written(WORDS))
    forest = reader.load(cache=tmp_path / "cache")
    assert_same(reader.load(cache=tmp_path / "cache"), forest)
    assert_same(forest, reader.load())


def test_a_damaged_cache_is_made_anew_with_a_warning(written, tmp_path, caplog):
    reader, cache = read_sst(written(GOOD)), tmp_path / "cache"
    forest = reader.load(cache=cache)
    [file] = cache.iterdir()
    whole = file.read_bytes()
    for seed in range(30):
        file.write_bytes(damaged(whole, random.Random(seed)))
        with caplog.at_level(logging.WARNING):
            assert_same(reader.load(cache=cache), forest)
        assert file.read_bytes() == whole
        assert f"{file} cannot be used, and is made anew: " in caplog.text
        caplog.clear()


def damaged(data, rng):
    """Returns a part of some bytes, or the bytes with another one among them."""
    place = rng.randrange(len(data))
    if rng.random() < 0.5:
        return data[:place]
    return (
        data[:place] + bytes([data[place] ^ rng.randrange(1, 256)]) + data[place + 1 :]
    )


def test_a_cache_with_other_arrays_is_made_anew(written, tmp_path):
    reader, cache = read_sst(written(GOOD)), tmp_path / "cache"
    reader.load(cache=cache)
    [file] = cache.iterdir()
    with tf.io.TFRecordWriter(str(file)) as writer:
        for _ in range(6):
            writer.write(tf.io.serialize_tensor(tf.constant([1.0])).numpy())
    assert_same(reader.load(cache=cache), reader.load())


def test_another_version_is_not_looked_at(written, tmp_path, monkeypatch):
    reader, cache = read_sst(written(GOOD)), tmp_path / "cache"
    reader.load(cache=cache)
    monkeypatch.setattr(caches, "VERSION", caches.VERSION + 1)
    reader.load(cache=cache)
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_cache_that_cannot_be_a_folder_is_done_without(
    written, tmp_path, caplog, place
):
    (tmp_path / "file").touch()
    reader = read_sst(written(GOOD))
    with caplog.at_level(logging.WARNING):
        assert_same(reader.load(cache=tmp_path / place), reader.load())
    assert "is not written, so the files are parsed again" in caplog.text


def test_a_full_disk_costs_the_cache_alone(written, tmp_path, caplog):
    reader, cache = read_sst(written(GOOD * 50)), tmp_path / "cache"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with caplog.at_level(logging.WARNING):
            forest = reader.load(cache=cache)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_same(forest, reader.load())
    assert "is not written, so the files are parsed again" in caplog.text
    assert list(cache.iterdir()) == []
