"""Trees as data: forests, readers, vocabularies, batches and pictures."""

from recursive_tf.data import dispatch as _dispatch  # noqa: F401 (registers)
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.joining import concat
from recursive_tf.data.nested import from_nested
from recursive_tf.data.readers import (
    ReadError,
    TreeReader,
    from_nltk,
    read_conllu,
    read_json,
    read_lattices,
    read_ptb,
    read_sst,
)

__all__ = [
    "Forest",
    "ForestError",
    "ReadError",
    "TreeReader",
    "concat",
    "from_nested",
    "from_nltk",
    "read_conllu",
    "read_json",
    "read_lattices",
    "read_ptb",
    "read_sst",
]
