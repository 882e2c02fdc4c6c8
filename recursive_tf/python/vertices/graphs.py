"""What a graph may be: a forest, lists of in-neighbors, or a matrix of them."""

from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf

from recursive_tf.data.forest import Forest
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.tracing.specs import format_spec, spec_of

NONE = -1
_MATRIX = 2


class Columns(NamedTuple):
    """The first, the second, ... in-neighbor of all vertices, apart.

    Attributes:
        columns: Each [num_vertices], with NONE where there is no such in-neighbor.
    """

    columns: tuple[tf.Tensor, ...]


# In-neighbors of each vertex: [num_vertices, (number)], or [num_vertices, most] with
# NONE where there are fewer.
Neighbors: TypeAlias = tf.Tensor | tf.RaggedTensor | Columns


def neighbors_of(graph: Any, name: str) -> Neighbors:
    """Returns the in-neighbors of all vertices.

    Args:
        graph: A forest, whose nodes have their children for in-neighbors; a ragged
            tensor of in-neighbors; or a matrix of them.
        name: Of the vertex function, for errors.

    Raises:
        SubGraphError: If it is something else.
    """
    if isinstance(graph, Forest):
        if graph.is_binary:
            return Columns((graph.left, graph.right))
        return graph.children
    if isinstance(graph, tf.RaggedTensor):
        if graph.dtype.is_integer and graph.shape.rank == _MATRIX:
            return graph
        _raise_no_graph(name, f"a RaggedTensor, {format_spec(spec_of(graph))}")
    try:
        matrix = tf.convert_to_tensor(graph)
    except (TypeError, ValueError):
        _raise_no_graph(name, f"{graph!r:.200}")
    if matrix.dtype.is_integer and matrix.shape.rank is None:
        return tf.ensure_shape(matrix, [None, None])
    if not matrix.dtype.is_integer or matrix.shape.rank != _MATRIX:
        _raise_no_graph(name, format_spec(spec_of(matrix)))
    return matrix


def known_count_of(neighbors: Neighbors) -> int | None:
    """Returns the number of vertices, if it is known."""
    rows = neighbors.columns[0] if isinstance(neighbors, Columns) else neighbors
    known: int | None = rows.shape[0]
    return known


def count_of(neighbors: Neighbors) -> tf.Tensor:
    """Returns the number of vertices, an int32 scalar."""
    known = known_count_of(neighbors)
    if known is not None:
        return tf.constant(known)
    if isinstance(neighbors, tf.RaggedTensor):
        return tf.cast(neighbors.nrows(), tf.int32)
    if isinstance(neighbors, Columns):
        return tf.shape(neighbors.columns[0])[0]
    return tf.shape(neighbors)[0]


def _raise_no_graph(name: str, found: str) -> None:
    raise SubGraphError(
        f"The graph of vertex function '{name}' is {found}. It is a "
        "recursive_tf.data.Forest, a tf.RaggedTensor int [num_vertices, None] of the "
        "in-neighbors of each vertex, or an int tensor [num_vertices, k] of them with "
        f"{NONE} for none. tf.ragged.constant makes one of lists."
    )
