"""From a graph with static shapes to a function for any number of rows."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.counts import Counts
from recursive_tf.python.batching.graphs.rebuild import Rebuild, effects_in
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.tf_compat import FuncGraph

# The types that shapes and counts of rows have.
_OF_COUNTS = (tf.int32, tf.int64)
# Which input of an op is a shape that may have a -1, for all that there is.
_SHAPES = {"Reshape": 1, "Slice": 2}


def emit(graph: FuncGraph, primes: Sequence[int]) -> FuncGraph:
    """Returns a graph like one that was built for some counts, for any.

    Args:
        graph: Its shapes are static, and it was simplified.
        primes: What stands for the counts: see counts.py.
    """
    emitter = Emitter(graph.name, primes)
    return emitter.run(graph.inputs, graph.outputs, effects_in(graph))


class Emitter(Rebuild):
    """See `emit`."""

    def __init__(self, name: str, primes: Sequence[int]) -> None:
        super().__init__(name)
        self._counts = Counts(primes)
        # By prime: what that is in the new graph.
        self._numbers: dict[int, tf.Tensor] = {}

    def add_input(self, tensor: tf.Tensor) -> tf.Tensor:
        """Adds an input, for any number of rows if it has rows."""
        shape = tensor.shape
        if tensor.dtype != tf.resource and shape.rank:
            shape = [None if self._counts.prime_in(n) else n for n in shape.as_list()]
        spec = tf.TensorSpec(shape, tensor.dtype)
        copy = tf_compat.placeholder_like(self.graph, spec)
        tf_compat.copy_handle_data(tensor, copy)
        self.graph.inputs.append(copy)
        return copy

    def add(self, op: tf.Operation) -> Sequence[tf.Tensor]:
        """Adds an op, which must mean the same for one row as for many."""
        if op.type == "BroadcastGradientArgs":
            # Static shapes leave none. It takes a single row for one that is
            # broadcast, and adds up what is to stay apart.
            raise CannotBatchError(
                op,
                "a gradient depends on shapes that are not known before the program "
                "runs. Say them, e.g. with tf.ensure_shape, or use the dataflow "
                "executor.",
            )
        return super().add(op)

    def inputs_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns what an op takes; -1 where that counts rows, if it may."""
        inputs = []
        for index, tensor in enumerate(op.inputs):
            rest = self._with_minus_one(op) if index == _SHAPES.get(op.type) else None
            inputs.append(
                self.copy_of(tensor)
                if rest is None
                else tf.constant(rest, tensor.dtype)
            )
        return inputs

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        """Adds a constant, or what it is for the rows that there are."""
        value = static_value(tensor) if tensor.dtype in _OF_COUNTS else None
        hits = self._counts.are_in(value)
        if value is None or not hits.any():
            return super().add_leaf(tensor)
        parts = [
            self._number(tensor, int(n)) if hit else tf.constant(n, tensor.dtype)
            for n, hit in zip(value.ravel(), hits.ravel(), strict=True)
        ]
        return tf.stack(parts) if value.ndim == 1 else tf.reshape(parts, value.shape)

    def _with_minus_one(self, op: tf.Operation) -> np.ndarray | None:
        """Returns the shape that an op takes, with -1 if that is the number of rows.

        None if there is no such number, or if it does not follow from the others.
        """
        shape = static_value(op.inputs[_SHAPES[op.type]])
        hits = self._counts.are_in(shape)
        if shape is None or hits.sum() != 1:
            return None
        if op.type == "Slice":
            follows = shape[hits] == np.array(op.inputs[0].shape)[hits]
        else:
            follows = shape.all()
        return np.where(hits, -1, shape) if follows else None

    def _number(self, like: tf.Tensor, number: int) -> tf.Tensor:
        """Returns what a multiple of a count stands for."""
        prime = self._counts.prime_in(number)
        assert prime is not None
        if prime not in self._numbers:
            counted = [t for t in self._copy.sources if _has_rows(t, prime)]
            if not counted:
                raise CannotBatchError(like.op, "it takes no rows.")
            self._numbers[prime] = tf.shape(self.copy_of(counted[0]))[0]
        count = tf.cast(self._numbers[prime], like.dtype)
        return count if number == prime else count * (number // prime)


def _has_rows(tensor: tf.Tensor, count: int) -> bool:
    is_value = tensor.dtype != tf.resource and tensor.shape.rank
    return bool(is_value and tensor.shape[0] == count)
