"""Trees as data: forests, readers, vocabularies, batches and pictures."""

from recursive_tf.data import dispatch as _dispatch  # noqa: F401 (registers)
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.joining import concat
from recursive_tf.data.nested import from_nested

__all__ = ["Forest", "ForestError", "concat", "from_nested"]
