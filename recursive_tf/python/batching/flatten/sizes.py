"""Integers of which it is known how many items of a list they count.

`tf.shape(items)[0]` differs between activations, so it is a row like any other; but
what is made of that size, e.g. by `tf.broadcast_to`, is a list of the same axis. To see
that, each axis has a number, and what is computed of sizes is computed with these once.
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.counts import NUMBERS_OF_ROWS, number_of_items
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.tf_compat import FuncGraph

# What takes sizes apart, and puts them together.
_OF_SIZES = frozenset(
    (
        *("Cast", "ConcatV2", "ExpandDims", "GatherV2", "Pack", "Reshape", "Slice"),
        *("Squeeze", "StridedSlice"),
    )
)
# Which input says how large what these make is.
_SIZED_BY = {"BroadcastTo": 1, "Fill": 0, "Range": 1, "Tile": 1}


class Sizes:
    """What is known of sizes in a program, with a large number for each axis."""

    def __init__(self) -> None:
        self._values: dict[int, np.ndarray] = {}
        self._origins: dict[int, tf.Tensor] = {}

    def add_shape(
        self, shape: tf.Tensor, of_list: tf.Tensor, origin: tf.Tensor
    ) -> None:
        """Says that `shape` is the shape, or the size, of a list of an axis."""
        known = (n for n, other in self._origins.items() if other is origin)
        number = next(known, None)
        if number is None:
            number = number_of_items(NUMBERS_OF_ROWS[0], len(self._origins))
            self._origins[number] = origin
        sizes = np.array([number, *of_list.shape[1:]])
        self._values[id(shape)] = sizes if shape.shape.rank else sizes.prod()

    def add(self, op: tf.Operation, inputs: Sequence[tf.Tensor]) -> None:
        """Finds out what `op` gives, if it takes sizes."""
        if op.type not in _OF_SIZES or not any(id(t) in self._values for t in inputs):
            return
        values = [self._value_of(tensor) for tensor in inputs]
        graph, constants = FuncGraph("sizes"), []
        with graph.as_default():
            for value, tensor in zip(values, inputs, strict=True):
                if value is None:
                    return
                constants.append(tf.constant(value, tensor.dtype))
            computed = tf_compat.create_op(graph, op, constants)
            found = static_value(computed.outputs[0])
        if found is not None:
            self._values[id(op.outputs[0])] = found

    def origin_for(
        self, op: tf.Operation, inputs: Sequence[tf.Tensor]
    ) -> tf.Tensor | None:
        """Returns the axis of what `op` makes, if it makes that of such a size."""
        if op.type not in _SIZED_BY:
            return None
        sizes = self._values.get(id(inputs[_SIZED_BY[op.type]]))
        if sizes is None or not sizes.size:
            return None
        if op.type == "Range" and not (_is(inputs[0], 0) and _is(inputs[2], 1)):
            return None
        return self._origins.get(int(sizes.ravel()[0]))

    def _value_of(self, tensor: tf.Tensor) -> np.ndarray | None:
        value = self._values.get(id(tensor))
        return static_value(tensor) if value is None else value


def _is(tensor: tf.Tensor, number: int) -> bool:
    value = static_value(tensor)
    return value is not None and int(value) == number
