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

    def unstack(self, rows: tf.Tensor, count: int) -> tf.Operation:
        """Returns an op that takes a tensor like `rows` apart."""
        shape = tf.TensorShape([count]).concatenate(rows.shape[1:])
        value = self._placeholder(tf.TensorSpec(shape, rows.dtype))
        with self._graph.as_default():
            op: tf.Operation = tf.raw_ops.Unpack(value=value, num=count, axis=0)[0].op
        return op

    def stack(self, parts: Sequence[tf.Tensor]) -> tf.Operation:
        """Returns an op that puts tensors like `parts` together."""
        values = [self._placeholder(part) for part in parts]
        with self._graph.as_default():
            op: tf.Operation = tf.raw_ops.Pack(values=values, axis=0).op
        return op

    def no_rows(self, spec: tf.TensorSpec) -> tf.Tensor:
        """Returns a constant of no rows."""
        with self._graph.as_default():
            return tf.zeros([0, *spec.shape[1:]], spec.dtype)

    def _placeholder(self, like: tf.Tensor | tf.TensorSpec) -> tf.Tensor:
        return tf_compat.placeholder_like(self._graph, like)
