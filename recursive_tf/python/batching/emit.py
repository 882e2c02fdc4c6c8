"""From the graph of a vectorised block to a function for any number of rows."""

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.static import static_value
from recursive_tf.python.tf_compat import FuncGraph

# Inputs of ops that say how many of something there are, where -1 means all.
_TAKES_MINUS_ONE = {("Reshape", 1), ("Slice", 2)}


def emit(graph: FuncGraph, num_rows: int) -> FuncGraph:
    """Returns a graph like one that was built for `num_rows` rows, for any number.

    What no output needs is left out, and so are constant expressions, copies, and
    reshapes of reshapes.

    Args:
        graph: Its shapes are static.
        num_rows: A large prime: wherever it divides a number, that counts rows.
    """
    return _Emitter(graph, num_rows).run()


class _Emitter:
    def __init__(self, source: FuncGraph, num_rows: int) -> None:
        self._source = source
        self._prime = num_rows
        self._target = FuncGraph(tf_compat.unique_name(source.name))
        self._copies: dict[int, tf.Tensor] = {}
        self._num_rows: tf.Tensor | None = None

    def run(self) -> FuncGraph:
        for tensor in self._source.inputs:
            self._add_input(tensor)
        needed = self._needed()
        with self._target.as_default():
            for op in self._source.get_operations():
                if op in needed and op.type != "Placeholder":
                    self._add(op)
            self._target.outputs = [
                self._copy_of(_origin(output)) for output in self._source.outputs
            ]
        return self._target

    def _needed(self) -> set[tf.Operation]:
        needed: set[tf.Operation] = set()
        todo = [_origin(output) for output in self._source.outputs]
        while todo:
            tensor = todo.pop()
            if tensor.op not in needed and static_value(tensor) is None:
                needed.add(tensor.op)
                todo += _inputs_of(tensor.op)
        return needed

    def _add_input(self, tensor: tf.Tensor) -> None:
        shape = tensor.shape
        if tensor.dtype != tf.resource and shape.rank:
            shape = [None if self._counts_rows(n) else n for n in shape.as_list()]
        copy = tf_compat.placeholder_like(
            self._target, tf.TensorSpec(shape, tensor.dtype)
        )
        tf_compat.copy_handle_data(tensor, copy)
        self._target.inputs.append(copy)
        self._copies[id(tensor)] = copy

    def _add(self, op: tf.Operation) -> None:
        inputs = [
            self._copy_of(tensor, minus_one=(op.type, index) in _TAKES_MINUS_ONE)
            for index, tensor in enumerate(_inputs_of(op))
        ]
        new = tf_compat.add_like(self._target, op, inputs)
        for old, copy in zip(op.outputs, new.outputs, strict=True):
            tf_compat.copy_handle_data(old, copy)
            self._copies[id(old)] = copy

    def _copy_of(self, tensor: tf.Tensor, *, minus_one: bool = False) -> tf.Tensor:
        """Returns what a needed tensor, or a constant, is here.

        Args:
            tensor: Of the source.
            minus_one: Whether -1 may stand for a number that follows from the rest.
        """
        value = static_value(tensor)
        if value is None:
            return self._copies[id(tensor)]
        hits = self._counts_rows(value) if tensor.dtype.is_integer else np.zeros(())
        if not hits.any():
            return tf.constant(value, tensor.dtype)
        if minus_one and hits.sum() == 1:
            return tf.constant(np.where(hits, -1, value), tensor.dtype)
        parts = [
            self._times_rows(int(n) // self._prime, tensor.dtype)
            if hit
            else tf.constant(n, tensor.dtype)
            for n, hit in zip(value.ravel(), hits.ravel(), strict=True)
        ]
        return tf.reshape(tf.stack(parts), value.shape)

    def _times_rows(self, times: int, dtype: tf.DType) -> tf.Tensor:
        if self._num_rows is None:
            self._num_rows = tf.shape(self._some_rows())[0]
        return tf.cast(self._num_rows * times, dtype)

    def _some_rows(self) -> tf.Tensor:
        for tensor in self._source.inputs:
            if tensor.shape.rank and tensor.shape[0] == self._prime:
                return self._copies[id(tensor)]
        raise CannotBatchError(self._source.outputs[0].op, "it takes no rows.")

    def _counts_rows(self, number: object) -> np.ndarray:
        """Says of each number whether it is a multiple of the number of rows."""
        numbers = np.asarray(0 if number is None else number)
        counted: np.ndarray = np.logical_and(numbers != 0, numbers % self._prime == 0)
        return counted


def _inputs_of(op: tf.Operation) -> list[tf.Tensor]:
    """Returns what an op takes, or what that is a copy of."""
    inputs = [_origin(tensor) for tensor in op.inputs]
    if op.type == "Reshape":
        inputs[0] = _origin(_before_reshapes(inputs[0]))
    return inputs


def _origin(tensor: tf.Tensor) -> tf.Tensor:
    """Returns what `tensor` is a copy of."""
    while True:
        source = tensor
        if tensor.op.type == "Identity":
            source = tensor.op.inputs[0]
        elif tensor.op.type == "Reshape":
            before = _before_reshapes(tensor)
            if before.shape.as_list() == tensor.shape.as_list():
                source = before
        if source is tensor:
            return tensor
        tensor = source


def _before_reshapes(tensor: tf.Tensor) -> tf.Tensor:
    while tensor.op.type == "Reshape":
        tensor = tensor.op.inputs[0]
    return tensor
