"""Data sets by name, where they are at hand."""

from recursive_tf.data.sets.load import load

__all__ = ["load"]
