"""Where the gradients of captures are gathered: at the root, never on the way.

A weight's gradient is needed once. So a gradient procedure does not return it: it
hands its contribution to a slot of the root, and the root puts the slots together.
"""

import dataclasses
from collections.abc import Collection, Sequence

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat

COLLECTED = "collected"
SUMMED = "summed"


@dataclasses.dataclass
class Slot:
    """One place in a program where a capture is used.

    Attributes:
        capture: The index of the capture.
        kind: "summed": one part, the sum of all contributions. "collected": parts
            whose rows are put one after the other.
        is_product: The parts [n, p] and [n, q] are factors: the gradient is the first,
            transposed, times the second. Otherwise collected parts are the values
            and the indices of an `IndexedSlices`.
        parts: The dtype and static shape of each part.
    """

    capture: int
    kind: str
    is_product: bool
    parts: list[tf.TensorSpec]


class Sinks:
    """The slots of a program.

    Attributes:
        slots: Where gradients are gathered.
        unneeded: The ops that would gather what is not needed. They are left out, in
            the end, with what only they need.

    Args:
        captures: Those whose gradients are not needed.
    """

    def __init__(self, captures: Collection[int] = ()) -> None:
        self.slots: list[Slot] = []
        self.unneeded: set[tf.Operation] = set()
        self._unneeded_captures = frozenset(captures)

    def add_product(
        self, handle: tf.Tensor, capture: int, left: tf.Tensor, right: tf.Tensor
    ) -> None:
        """Adds `transpose(left) @ right` to a capture's gradient.

        The factors of a node, two rows, are small; their product has the size of the
        weight. So the factors of all nodes are collected and multiplied once.
        """
        self._add(handle, COLLECTED, capture, [left, right], is_product=True)

    def add(
        self, handle: tf.Tensor, capture: int, gradient: tf.Tensor | tf.IndexedSlices
    ) -> None:
        """Adds `gradient` to a capture's gradient."""
        if isinstance(gradient, tf.IndexedSlices):
            if gradient.values.shape[1:].is_fully_defined():
                parts = [gradient.values, gradient.indices]
                self._add(handle, COLLECTED, capture, parts, is_product=False)
                return
            gradient = tf.convert_to_tensor(gradient)
        self._add(handle, SUMMED, capture, [gradient], is_product=False)

    def _add(
        self,
        handle: tf.Tensor,
        kind: str,
        capture: int,
        parts: Sequence[tf.Tensor],
        *,
        is_product: bool,
    ) -> None:
        if capture in self._unneeded_captures:
            self.unneeded.add(
                library.recursive_sink(handle=handle, parts=parts, slot=0)
            )
            return
        library.recursive_sink(handle=handle, parts=parts, slot=len(self.slots))
        specs = []
        for part in parts:
            shape = part.shape
            if kind == COLLECTED:
                shape = tf.TensorShape([None]).concatenate(shape[1:])
            specs.append(tf.TensorSpec(shape, part.dtype))
        self.slots.append(Slot(capture, kind, is_product, specs))


def gradient_of_slot(
    slot: Slot, parts: Sequence[tf.Tensor], capture: tf.Tensor
) -> tf.Tensor | tf.IndexedSlices:
    """Returns the gradient by a capture that the gathered parts of a slot stand for."""
    if slot.kind == SUMMED:
        return parts[0]
    if slot.is_product:
        return tf.matmul(parts[0], parts[1], transpose_a=True)
    values, indices = parts
    return slices_of(capture, values, indices)


def slices_of(
    capture: tf.Tensor, values: tf.Tensor, indices: tf.Tensor
) -> tf.IndexedSlices:
    """Returns a gradient by some rows of a capture.

    Its shape has the dtype that TensorFlow's have: those of two branches must agree.
    """
    return tf.IndexedSlices(values, indices, shape_of(capture, tf.int32))


def shape_of(capture: tf.Tensor, dtype: tf.DType = tf.int64) -> tf.Tensor:
    """Returns the shape of a tensor or of the variable behind a handle."""
    if capture.dtype == tf.resource:
        spec = tf_compat.spec_of_variable(capture)
        if spec is not None and spec.shape.is_fully_defined():
            return tf.constant(spec.shape.as_list(), dtype)
        return tf.raw_ops.VariableShape(input=capture, out_type=dtype)
    return tf.shape(capture, out_type=dtype)


def add_up(
    gradients: Sequence[tf.Tensor | tf.IndexedSlices],
) -> tf.Tensor | tf.IndexedSlices | None:
    """Returns the sum; sparse if all are; None of nothing."""
    if not gradients:
        return None
    if all(isinstance(g, tf.IndexedSlices) for g in gradients):
        if len(gradients) == 1:
            return gradients[0]
        indices = [tf.cast(g.indices, tf.int64) for g in gradients]
        return tf.IndexedSlices(
            tf.concat([g.values for g in gradients], 0),
            tf.concat(indices, 0),
            gradients[0].dense_shape,
        )
    return tf.add_n([tf.convert_to_tensor(g) for g in gradients])
