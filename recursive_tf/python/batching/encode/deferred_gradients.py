"""What the deferred parts of blocks give to the backward root op, and it to the graph.

Several blocks may use one value of the prologue, as each kind of node a shared weight.
The op adds up what their deferred parts give for it: an op of TensorFlow that did so
behind it would be given to another thread, which takes as long as a small launch.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python.batching.differentiate.training_block import TrainingBlock
from recursive_tf.python.batching.encode.prologue_outputs import PrologueOutputs


@dataclasses.dataclass
class DeferredGradient:
    """A gradient that the backward root op gives.

    Attributes:
        tensor: What it is a gradient of, a tensor of the prologue.
        specs: Of its parts: the sum over all rows, or the values and the indices of
            slices, of which each row has one.
        blocks: The numbers of the blocks that it is from.
    """

    tensor: tf.Tensor
    specs: list[tf.TensorSpec]
    blocks: list[int] = dataclasses.field(default_factory=list)


class DeferredGradients:
    """All of them.

    Attributes:
        gradients: In the order of the op's outputs.

    Args:
        blocks: The blocks in training form.
    """

    def __init__(self, blocks: Sequence[TrainingBlock]) -> None:
        self._counts: list[int] = []
        self._places: list[int] = []
        self._known: dict[tuple[Any, ...], tuple[int, DeferredGradient]] = {}
        self._size = 0
        for number, block in enumerate(blocks):
            if block.deferred is not None:
                self._counts.append(len(block.deferred.outputs))
                self._add(number, block)
        self.gradients = [gradient for _, gradient in self._known.values()]

    def _add(self, number: int, block: TrainingBlock) -> None:
        assert block.deferred is not None
        outputs = iter(block.deferred.outputs)
        for tensor, is_slices in block.invariant_gradients:
            parts = [next(outputs) for _ in range(2 if is_slices else 1)]
            specs = [tf.TensorSpec(t.shape, t.dtype) for t in parts]
            key = (id(tensor), *(spec.dtype for spec in specs))
            if key not in self._known:
                self._known[key] = (self._size, DeferredGradient(tensor, specs))
                self._size += len(specs)
            first, gradient = self._known[key]
            gradient.specs = list(map(_merged, gradient.specs, specs))
            gradient.blocks.append(number)
            self._places += range(first, first + len(specs))

    def attributes(self, outputs: PrologueOutputs) -> dict[str, Any]:
        """Returns attributes of the backward root op."""
        flat = [(each, spec) for each in self.gradients for spec in each.specs]
        return {
            "Tdeferred_gradients": [spec.dtype for _, spec in flat],
            "deferred_counts": self._counts,
            "deferred_places": self._places,
            "deferred_has_rows": [len(each.specs) > 1 for each, _ in flat],
            "deferred_shapes": [spec.shape for _, spec in flat],
            "deferred_like": [outputs.index_of(each.tensor) for each, _ in flat],
        }


def _merged(known: tf.TensorSpec, other: tf.TensorSpec) -> tf.TensorSpec:
    return tf.TensorSpec(known.shape.merge_with(other.shape), known.dtype)
