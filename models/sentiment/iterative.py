"""A cell run by an iterative program, to compare with the recursive one.

Two loops, over the leaves and then over the internal nodes, children before parents
(Jeong et al., EuroSys 2018, figure 1). One node after the other: a loop does not know
which nodes are independent.

States stand in tables, and so do their gradients: a row is read and written in place.
The gradient of a read of a tensor array, or of a tensor, would be another array of its
size, so that a batch would take the square of its nodes.
"""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import Forest


@keras.saving.register_keras_serializable("recursive_tf_models")
class IterativeEncoder(keras.layers.Layer):
    """Computes what `rtf.layers.TreeEncoder(..., return_nodes=True)` does.

    For cells of two children with x at leaves, and forests with children before their
    parents.
    """

    def __init__(self, cell: Any, embedding: Any, **kwargs: Any) -> None:
        """Makes the layer.

        Args:
            cell: What a node computes, e.g. `rtf.layers.TreeLSTMCell`.
            embedding: A `keras.layers.Embedding`, of one token.
            **kwargs: Of every Keras layer: name, dtype, trainable.
        """
        super().__init__(**kwargs)
        self.cell = cell
        self.embedding = embedding

    def build(self, forest_shape: Any = None) -> None:
        """Makes all variables."""
        if not self.embedding.built:
            self.embedding.build(())
        if not self.cell.built:
            self.cell.build((self.embedding.output_dim,))

    def call(self, forest: Forest) -> tf.Tensor:
        """Returns h of every node, [num_nodes, units]."""
        leaves = tf.where(forest.left < 0)[:, 0]
        internal = tf.where(forest.left >= 0)[:, 0]
        # Looked up before the loop, or its gradient would add a whole table a leaf.
        tokens = tf.gather(forest.tokens, leaves)
        words = rtf.layers.look_up(self.embedding, tokens)

        def run_leaf(i: tf.Tensor, tables: Any) -> Any:
            words, states = tables
            x, words = _read(words, i)
            return words, _write(states, leaves[i], self.cell.leaf(x))

        def run_internal(i: tf.Tensor, states: Any) -> Any:
            node = internal[i]
            left, states = _read(states, tf.gather(forest.left, node))
            right, states = _read(states, tf.gather(forest.right, node))
            return _write(states, node, self.cell((left, right), None))

        states = self._tables(forest.num_nodes)
        words, states = _run(tf.size(leaves), run_leaf, (words, states))
        states = _run(tf.size(internal), run_internal, states)
        return _first(*tf.nest.flatten((states, words)))

    def _tables(self, size: tf.Tensor) -> Any:
        """Returns a table for each tensor of a state."""
        x = tf.zeros([self.embedding.output_dim], self.compute_dtype)
        return tf.nest.map_structure(
            lambda s: _zeros(tf.concat([[size], s.shape], 0), s.dtype),
            self.cell.leaf(x),
        )

    def compute_output_spec(self, forest: Any, **_: Any) -> keras.KerasTensor:
        """Returns what h of every node looks like before there is a forest."""
        return keras.KerasTensor((None, self.cell.units), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        config: dict[str, Any] = super().get_config()
        return config | {
            name: keras.saving.serialize_keras_object(getattr(self, name))
            for name in ("cell", "embedding")
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "IterativeEncoder":
        """Returns the layer that these arguments make."""
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("cell", "embedding")
        }
        return cls(**(config | parts))


def _run(count: tf.Tensor, body: Callable[[tf.Tensor, Any], Any], tables: Any) -> Any:
    """Returns the tables after a number of nodes, in order."""

    def step(i: tf.Tensor, tables: Any) -> tuple[tf.Tensor, Any]:
        return i + 1, body(i, tables)

    return tf.while_loop(lambda i, _: i < count, step, (0, tables))[1]


def _read(tables: Any, row: tf.Tensor) -> tuple[Any, Any]:
    """Returns a row of each table, and the tables, for all that comes after it."""
    pairs = [_read_one(table, row) for table in tf.nest.flatten(tables)]
    rows, after = zip(*pairs, strict=True)
    return (
        tf.nest.pack_sequence_as(tables, rows),
        tf.nest.pack_sequence_as(tables, after),
    )


def _write(tables: Any, row: tf.Tensor, values: Any) -> Any:
    """Returns the tables with a row of each written, before which it is not read."""
    write = lambda table, value: _write_one(table, row, value)  # noqa: E731
    return tf.nest.map_structure(write, tables, values)


# A table goes through each read and each write. So the gradient of all that reads it
# later is one table, which is complete where the row was written.
@tf.custom_gradient
def _read_one(table: tf.Tensor, row: tf.Tensor) -> Any:
    def gradient(dvalue: tf.Tensor, dtable: tf.Tensor) -> Any:
        dtable = tf.raw_ops.InplaceAdd(
            x=dtable, i=_one_row(row), v=tf.expand_dims(dvalue, 0)
        )
        return dtable, None

    return (tf.gather(table, row), tf.identity(table)), gradient


@tf.custom_gradient
def _write_one(table: tf.Tensor, row: tf.Tensor, value: tf.Tensor) -> Any:
    def gradient(dtable: tf.Tensor) -> Any:
        # The row of the gradient stays: nothing reads it before it was written.
        return dtable, None, tf.gather(dtable, row)

    value = tf.expand_dims(value, 0)
    return tf.raw_ops.InplaceUpdate(x=table, i=_one_row(row), v=value), gradient


@tf.custom_gradient
def _first(table: tf.Tensor, *others: tf.Tensor) -> Any:
    """Returns the first table; begins the tables of gradients, each of its own."""

    def gradient(dtable: tf.Tensor) -> Any:
        first = tf.raw_ops.DeepCopy(x=tf.convert_to_tensor(dtable))
        return first, *(_zeros(tf.shape(other), other.dtype) for other in others)

    return tf.identity(table), gradient


def _zeros(shape: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Returns zeros to write to. Equal `tf.zeros` may be one tensor."""
    return tf.raw_ops.Empty(shape=shape, dtype=dtype, init=True)


def _one_row(row: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.cast(row, tf.int32), [1])
