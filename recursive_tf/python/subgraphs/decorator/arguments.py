"""The arguments of a call, taken apart into tensors and Python values."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python.subgraphs.decorator.pattern import Pattern


@dataclasses.dataclass(frozen=True)
class Arguments:
    """The arguments of one call.

    Attributes:
        pattern: What a trace depends on.
        leaves: The values: tensors, composites, and others.
    """

    pattern: Pattern
    leaves: list[Any]

    @property
    def tensors(self) -> list[Any]:
        """What is passed when it runs: tensors and composites."""
        pairs = zip(self.pattern.keys, self.leaves, strict=True)
        return [leaf for key, leaf in pairs if isinstance(key, tf.TypeSpec)]

    def values(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the values of all parameters, with other tensors."""
        waiting = iter(tensors)
        leaves = [
            next(waiting) if isinstance(key, tf.TypeSpec) else leaf
            for key, leaf in zip(self.pattern.keys, self.leaves, strict=True)
        ]
        return list(tf.nest.pack_sequence_as(self.pattern.structure, leaves))
