"""The in-neighbors of vertices, in the forms that bodies look up."""

import contextlib
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.vertices.graphs import (
    NONE,
    Columns,
    Neighbors,
    count_of,
)


class Links:
    """Tensors with a row for each vertex, made when they are first asked for.

    They are made in the graph where the links are, also if a body that is traced asks:
    there it would be once for each vertex.

    Args:
        neighbors: Of a graph of the default graph.

    Attributes:
        num_vertices: An int32 scalar.
    """

    def __init__(self, neighbors: Neighbors) -> None:
        self._neighbors = neighbors
        self._graph = None if tf.executing_eagerly() else tf_compat.default_graph()
        self.num_vertices = count_of(neighbors)
        self._made: dict[Any, Any] = {}

    def slot(self, i: int) -> tf.Tensor:
        """Returns the i-th in-neighbor of each vertex, or NONE: int32[num_vertices]."""
        return self._once(i, lambda: tf.cast(self._slot(i), tf.int32))

    def lists(self) -> tf.RaggedTensor:
        """Returns the in-neighbors that there are: int32[num_vertices, (number)]."""
        return self._once("lists", self._lists)

    def counts(self) -> tf.Tensor:
        """Returns how many there are: int32[num_vertices]."""
        return self._once("counts", self._counts)

    def _once(self, key: Any, make: Any) -> Any:
        if key not in self._made:
            graph = self._graph
            with contextlib.nullcontext() if graph is None else graph.as_default():
                self._made[key] = make()
        return self._made[key]

    def _slot(self, i: int) -> tf.Tensor:
        if isinstance(self._neighbors, Columns):
            columns = self._neighbors.columns
            if i < len(columns):
                return columns[i]
            return tf.fill([self.num_vertices], NONE)
        if not isinstance(self._neighbors, tf.RaggedTensor):
            if self._neighbors.shape[1] is None:
                # At least as wide, so that there is a column to take.
                return tf.pad(
                    self._neighbors, [[0, 0], [0, i + 1]], constant_values=NONE
                )[:, i]
            if i < self._neighbors.shape[1]:
                return self._neighbors[:, i]
            return tf.fill([self.num_vertices], NONE)
        ragged = self._neighbors
        none = tf.constant([NONE], ragged.dtype)
        starts = ragged.row_starts()
        end = tf.size(ragged.values, starts.dtype)
        place = tf.where(ragged.row_lengths() > i, starts + i, end)
        return tf.gather(tf.concat([ragged.values, none], 0), place)

    def _lists(self) -> tf.RaggedTensor:
        if isinstance(self._neighbors, tf.RaggedTensor):
            return tf.cast(self._neighbors, tf.int32)
        if isinstance(self._neighbors, Columns):
            matrix = tf.stack(self._neighbors.columns, 1)
        else:
            matrix = self._neighbors
        matrix = tf.cast(matrix, tf.int32)
        return tf.ragged.boolean_mask(matrix, matrix != NONE)

    def _counts(self) -> tf.Tensor:
        if isinstance(self._neighbors, tf.RaggedTensor):
            return tf.cast(self._neighbors.row_lengths(), tf.int32)
        if isinstance(self._neighbors, Columns):
            columns = self._neighbors.columns
            return tf.add_n([tf.cast(each != NONE, tf.int32) for each in columns])
        return tf.math.count_nonzero(self._neighbors != NONE, 1, dtype=tf.int32)
