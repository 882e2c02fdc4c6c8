"""A part of a block's joint graph, as a function of its own."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.differentiate.joint_graph import JointGraph
from recursive_tf.python.batching.graphs import draft_ops
from recursive_tf.python.batching.graphs.draft import (
    Draft,
    Drafted,
    DraftGraph,
    placeholder,
    shape_of,
)
from recursive_tf.python.batching.graphs.emit import Emitter
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


class Part(Emitter):
    """Drafts a part, for any number of rows.

    Attributes:
        invariants: The tensors of the prologue that it takes after its rows.

    Args:
        name: For people.
        block: The block.
        joint: The block with its gradient.
    """

    def __init__(self, name: str, block: VectorizedBlock, joint: JointGraph) -> None:
        super().__init__(f"{joint.name}_{name}", joint.primes)
        self.invariants: list[tf.Tensor] = []
        self._shapes: dict[Drafted, Drafted] = {}
        self._in_prologue = dict(zip(joint.invariants, block.invariants, strict=True))

    def run(
        self,
        inputs: Sequence[Drafted],
        outputs: Sequence[Drafted],
        effects: Sequence[Draft] = (),
    ) -> DraftGraph:
        """Returns the graph; a shape of a value gives the value too."""
        self._shapes = {v.op.inputs[0]: v for v in inputs if v.op.type == "Reshape"}
        return super().run(inputs, outputs, effects)

    def is_leaf(self, value: Drafted) -> bool:
        """What an input is a shape of needs nothing else."""
        return value in self._shapes or super().is_leaf(value)

    def add_leaf(self, value: Drafted) -> Drafted:
        """Adds a constant, takes an invariant, or reshapes an input back."""
        if value in self._shapes:
            rows = self.emitted(self._shapes[value])
            assert value.shape is not None
            sizes = self.constant(np.array([-1, *value.shape[1:]]), tf.int32)
            return draft_ops.reshape(rows, sizes, self.for_any(value).shape)
        if value.op.type != "Placeholder":
            return super().add_leaf(value)
        if value not in self._in_prologue:
            assert value.op.source is not None
            raise CannotBatchError(
                value.op.source, "its rows are not kept for the gradient."
            )
        return self.take(self._in_prologue[value])

    def take(self, invariant: tf.Tensor) -> Drafted:
        """Adds an input for a tensor of the prologue."""
        self.invariants.append(invariant)
        return self.add_input(placeholder(invariant, shape_of(invariant)))
