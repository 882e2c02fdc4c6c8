"""Functions of blocks, as attributes of the root ops."""

import dataclasses
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.tf_compat import AtomicFunction


@dataclasses.dataclass(frozen=True)
class BlockFunctions:
    """The functions of some blocks.

    Attributes:
        functions: Of rows, and then of outputs of the prologue.
        invariants: Which outputs of the prologue each takes.
    """

    functions: list[AtomicFunction]
    invariants: list[list[int]]

    def attributes(self, graph: tf.Graph, name: str) -> dict[str, Any]:
        """Returns them as attributes of an op that is added to `graph`."""
        for function in self.functions:
            tf_compat.add_function(graph, function)
        return {
            name: [tf.compat.as_str(f.name) for f in self.functions],
            f"{name}_invariant_counts": [len(i) for i in self.invariants],
            f"{name}_invariants": [i for each in self.invariants for i in each],
        }
