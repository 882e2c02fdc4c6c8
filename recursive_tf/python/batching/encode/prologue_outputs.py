"""What the prologue gives, as outputs of functions, by number."""

import copy
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.encode.block_functions import BlockFunctions
from recursive_tf.python.batching.vectorize.late_parts import (
    LatePart,
    extract,
    late_parts,
)
from recursive_tf.python.batching.vectorize.prologue import Prologue


class PrologueOutputs:
    """What the prologue returns: the values that a plan names, then invariants.

    Attributes:
        tensors: Of the prologue's graph, by number. That of a tensor never changes.

    Args:
        prologue: The prologue.
        values: What the plan names, as tensors of closed procedures.
        num_blocks: How many blocks there are.
    """

    def __init__(
        self, prologue: Prologue, values: Sequence[tf.Tensor], num_blocks: int
    ) -> None:
        self._prologue = prologue
        self._num_blocks = num_blocks
        self.tensors = [prologue.copy(tensor) for tensor in values]
        self._indices = {id(t): i for i, t in enumerate(self.tensors)}
        self._takers = [{self.taker_of_value(i)} for i in range(len(self.tensors))]
        # The takers when the functions were made.
        self._made_for: list[set[int]] | None = None

    def taker_of_value(self, index: int) -> int:
        """Returns the number of a value that the plan names, among takers."""
        return self._num_blocks + index

    def indices_of(self, invariants: Sequence[tf.Tensor], block: int) -> list[int]:
        """Returns which outputs the tensors that a block takes are; they become such.

        Args:
            invariants: Tensors of the prologue.
            block: The number of the block.
        """
        indices = [self.index_of(tensor) for tensor in invariants]
        for index in indices:
            self._takers[index].add(block)
        return indices

    def index_of(self, tensor: tf.Tensor) -> int:
        """Returns which output a tensor of the prologue is; it becomes one."""
        if id(tensor) not in self._indices:
            self._indices[id(tensor)] = len(self.tensors)
            self.tensors.append(tensor)
            self._takers.append(set())
        return self._indices[id(tensor)]

    def make_functions(self) -> None:
        """Makes the functions that give the outputs that there are now."""
        if self._made_for == self._takers:
            return
        parts = late_parts(self._prologue, zip(self.tensors, self._takers, strict=True))
        self._late = self._late_part_functions(parts)  # It may want more of the rest.
        hoisted = [t for t in self.tensors if not self._prologue.is_late(t)]
        source = self._prologue.graph
        self._function = tf_compat.make_function(
            extract(source.name, source.inputs, hoisted)
        )
        self._late_attributes = self._attributes_of(parts)
        self._made_for = copy.deepcopy(self._takers)

    def attributes(self, graph: tf.Graph) -> dict[str, Any]:
        """Returns the prologue as attributes of an op that is added to `graph`."""
        tf_compat.add_function(graph, self._function)
        return {
            "prologue": tf.compat.as_str(self._function.name),
            "prologue_captures": list(self._prologue.captures),
            **self._late.attributes(graph, "late"),
            **self._late_attributes,
        }

    def _late_part_functions(self, parts: Sequence[LatePart]) -> BlockFunctions:
        name = f"{self._prologue.graph.name}_late"
        return BlockFunctions(
            [tf_compat.make_function(part.graph(name)) for part in parts],
            [list(map(self.index_of, part.inputs)) for part in parts],
        )

    def _attributes_of(self, parts: Sequence[LatePart]) -> dict[str, Any]:
        outputs = [list(map(self.index_of, part.outputs)) for part in parts]
        takers = [sorted(part.takers) for part in parts]
        return {
            "late_output_counts": list(map(len, outputs)),
            "late_outputs": [index for each in outputs for index in each],
            "late_taker_counts": list(map(len, takers)),
            "late_takers": [taker for each in takers for taker in each],
        }
