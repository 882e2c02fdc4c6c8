"""Trees as data: forests, readers, vocabularies, batches and pictures."""

from recursive_tf.data import dispatch as _dispatch  # noqa: F401 (registers)
from recursive_tf.data.batches import batches
from recursive_tf.data.description import Description, describe
from recursive_tf.data.errors import DataNotFoundError, ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.generated import from_words, generate, generate_from_grammar
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
    read_reviews,
    read_sst,
)
from recursive_tf.data.sets import load
from recursive_tf.data.spec import forest_spec
from recursive_tf.data.vectors import Vectors, load_vectors
from recursive_tf.data.vocabulary import encode, label_vocabulary, vocabulary
from recursive_tf.data.words import split_words

__all__ = [
    "DataNotFoundError",
    "Description",
    "Forest",
    "ForestError",
    "ReadError",
    "TreeReader",
    "Vectors",
    "batches",
    "concat",
    "describe",
    "encode",
    "forest_spec",
    "from_nested",
    "from_nltk",
    "from_words",
    "generate",
    "generate_from_grammar",
    "label_vocabulary",
    "load",
    "load_vectors",
    "read_conllu",
    "read_json",
    "read_lattices",
    "read_ptb",
    "read_reviews",
    "read_sst",
    "split_words",
    "vocabulary",
]
