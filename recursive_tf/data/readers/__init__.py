"""Readers of files, and of trees of other libraries."""

from recursive_tf.data.readers.brackets import read_ptb, read_sst
from recursive_tf.data.readers.conllu import read_conllu
from recursive_tf.data.readers.json_lines import read_json
from recursive_tf.data.readers.lattices import read_lattices
from recursive_tf.data.readers.nltk_trees import from_nltk
from recursive_tf.data.readers.reader import TreeReader
from recursive_tf.data.readers.reviews import read_reviews
from recursive_tf.data.readers.source import ReadError

__all__ = [
    "ReadError",
    "TreeReader",
    "from_nltk",
    "read_conllu",
    "read_json",
    "read_lattices",
    "read_ptb",
    "read_reviews",
    "read_sst",
]
