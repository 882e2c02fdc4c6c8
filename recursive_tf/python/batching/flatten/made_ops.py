"""Ops that a flat program has beside those of its closed procedures."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.tf_compat import FuncGraph


class MadeOps:
    """Adds such ops to a graph of their own.

    Their inputs are placeholders, which the program makes stand for tensors.
    """

    def __init__(self) -> None:
        self._graph = FuncGraph(tf_compat.unique_name("made"))

    def values_like(self, specs: Sequence[tf.Tensor | tf.TensorSpec]) -> tf.Operation:
        """Returns an op with an output for each spec: what a wait returns."""
        like = [self._placeholder(spec) for spec in specs]
        with self._graph.as_default():
            op: tf.Operation = tf.raw_ops.IdentityN(input=like)[0].op
        return op

    def as_list(self, rows: tf.Tensor, of_activation: tf.Tensor) -> tf.Operation:
        """Returns an op whose first output is a tensor like `rows`, as a list.

        It takes a value of the activation too: its list is one, if `rows` is not.
        """
        spec = tf.TensorSpec([None, *rows.shape[1:]], rows.dtype)
        return self.values_like([spec, of_activation])

    def from_list(self, items: tf.Tensor, count: int) -> tf.Operation:
        """Returns an op that takes a list like `items` for rows: that many."""
        value = self._placeholder(items)
        with self._graph.as_default():
            op: tf.Operation = tf.ensure_shape(value, [count, *items.shape[1:]]).op
        return op

    def shape_of(self, items: tf.Tensor) -> tf.Operation:
        """Returns an op that gives the shape of a tensor like `items`."""
        with self._graph.as_default():
            op: tf.Operation = tf.raw_ops.Shape(input=self._placeholder(items)).op
        return op

    def no_rows(self, spec: tf.Tensor | tf.TensorSpec) -> tf.Tensor:
        """Returns a constant of no rows."""
        with self._graph.as_default():
            return tf.zeros([0, *spec.shape[1:]], spec.dtype)

    def constant(self, value: Sequence[int]) -> tf.Tensor:
        """Returns a constant of integers."""
        with self._graph.as_default():
            return tf.constant(value, tf.int32)

    def _placeholder(self, like: tf.Tensor | tf.TensorSpec) -> tf.Tensor:
        return tf_compat.placeholder_like(self._graph, like)
