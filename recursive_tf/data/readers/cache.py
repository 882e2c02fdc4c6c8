"""What was parsed of files, kept in a file of its own."""

import contextlib
import logging
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.data.forest import Forest

# Of what is in a file, and of what parsers make of a text: a file that was written
# with another number is not looked at.
VERSION = 2
LOG = logging.getLogger("recursive_tf.data")


def load_or_parse(path: pathlib.Path, spec: Any, parse: Callable[[], Forest]) -> Forest:
    """Returns what a file keeps, or parses, and writes the file.

    A file that is damaged is written anew, and one that cannot be written is done
    without: both are warnings. It is replaced at once, so processes may share a folder.

    Args:
        path: Of the file, which need not be there, nor its folder.
        spec: Of the forest.
        parse: What to do if the file does not say it.
    """
    try:
        if path.exists():
            return _load(path, spec)
    except (OSError, ValueError, TypeError, tf.errors.OpError) as error:
        LOG.warning("%s cannot be used, and is made anew: %s", path, _first_line(error))
    forest = parse()
    try:
        _save(forest, path)
    except (OSError, ValueError, tf.errors.OpError) as error:
        LOG.warning(
            "%s is not written, so the files are parsed again the next time: %s. Free "
            "some space, or choose another cache.",
            path,
            _first_line(error),
        )
    return forest


def _first_line(error: Exception) -> str:
    text = getattr(error, "message", "") or str(error)
    return text.partition("\n")[0].rstrip(".")


def _load(path: pathlib.Path, spec: Any) -> Forest:
    """Reads a record an array; each has a checksum, which TensorFlow looks at."""
    specs = tf.nest.flatten(spec, expand_composites=True)
    records = list(tf.data.TFRecordDataset(str(path)))
    if len(records) != len(specs):
        raise ValueError(f"it has {len(records)} of {len(specs)} arrays")
    arrays = [
        tf.io.parse_tensor(record, array.dtype)
        for record, array in zip(records, specs, strict=True)
    ]
    forest: Forest = tf.nest.pack_sequence_as(spec, arrays, expand_composites=True)
    return forest


def _save(forest: Forest, path: pathlib.Path) -> None:
    """Writes a file, which is there only when all of it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, unfinished = tempfile.mkstemp(dir=path.parent, prefix="unfinished-")
    os.close(number)
    try:
        with tf.io.TFRecordWriter(unfinished) as file:
            for array in tf.nest.flatten(forest, expand_composites=True):
                file.write(tf.io.serialize_tensor(array).numpy())
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
