"""From traced bodies to a closed program: the procedures that a root op carries."""

from recursive_tf.python.program.close import close
from recursive_tf.python.program.closed_program import Program
from recursive_tf.python.program.definition import Definition
from recursive_tf.python.program.definition_in_words import (
    definition_in_words,
    signature_in_words,
)
from recursive_tf.python.program.lazy_pushes import LazyPush
from recursive_tf.python.program.path_keys import key_at_root, keys_of_rows

__all__ = [
    "Definition",
    "LazyPush",
    "Program",
    "close",
    "definition_in_words",
    "key_at_root",
    "keys_of_rows",
    "signature_in_words",
]
