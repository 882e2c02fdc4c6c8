"""A part of a block's joint graph, as a function of its own."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.differentiate.joint_graph import JointGraph
from recursive_tf.python.batching.graphs.emit import Emitter
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.tf_compat import FuncGraph


class Part(Emitter):
    """The graph of a part, for any number of rows.

    Attributes:
        invariants: The tensors of the prologue that it takes after its rows.

    Args:
        name: For people.
        block: The block.
        joint: The block with its gradient.
    """

    def __init__(self, name: str, block: VectorizedBlock, joint: JointGraph) -> None:
        super().__init__(f"{block.graph.name}_{name}", joint.primes)
        self.invariants: list[tf.Tensor] = []
        self._shapes: dict[int, tf.Tensor] = {}
        self._in_prologue = dict(
            zip(map(id, joint.invariants), block.invariants, strict=True)
        )

    def run(
        self,
        inputs: Sequence[tf.Tensor],
        outputs: Sequence[tf.Tensor],
        effects: Sequence[tf.Operation] = (),
    ) -> FuncGraph:
        """Returns the graph; a shape of a value gives the value too."""
        self._shapes = {id(t.op.inputs[0]): t for t in inputs if t.op.type == "Reshape"}
        return super().run(inputs, outputs, effects)

    def is_leaf(self, tensor: tf.Tensor) -> bool:
        """What an input is a shape of needs nothing else."""
        return id(tensor) in self._shapes or super().is_leaf(tensor)

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        """Adds a constant, takes an invariant, or reshapes an input back."""
        if id(tensor) in self._shapes:
            rows = self.copy_of(self._shapes[id(tensor)])
            return tf.reshape(rows, [-1, *tensor.shape[1:]])
        if tensor.op.type != "Placeholder":
            return super().add_leaf(tensor)
        if id(tensor) not in self._in_prologue:
            raise CannotBatchError(tensor.op, "its rows are not kept for the gradient.")
        return self.take(self._in_prologue[id(tensor)])

    def take(self, invariant: tf.Tensor) -> tf.Tensor:
        """Adds an input for a tensor of the prologue."""
        self.invariants.append(invariant)
        return self.add_input(invariant)
