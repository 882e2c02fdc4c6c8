"""Whether a graph is one: every in-neighbor is a vertex, and none waits for itself.

A graph that is known while a function is traced is looked at once, then. Others are
looked at when they run: for cycles only where the run finds that somebody waits for
itself.
"""

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python.vertices.cycles import Edges, find_cycle, in_words
from recursive_tf.python.vertices.graphs import (
    NONE,
    Columns,
    Neighbors,
    count_of,
)


def checked_neighbors(neighbors: Neighbors, name: str) -> Neighbors:
    """Returns in-neighbors that are vertices, or fails when it runs.

    Args:
        neighbors: Of a graph.
        name: Of the vertex function, for errors.

    Raises:
        tf.errors.InvalidArgumentError: If they are known and one is no vertex.
        tf.errors.FailedPreconditionError: If they are known and there is a cycle.
    """
    edges = known_edges(neighbors)
    if edges is not None:
        _check_known(edges, name)
        return neighbors
    parts, lowest = _parts(neighbors)
    count = tf.cast(count_of(neighbors), parts[0].dtype)
    # Two numbers of each part: no tensor is made of as many as there are edges.
    is_wrong = [
        tf.logical_or(tf.reduce_min(part) < lowest, tf.reduce_max(part) >= count)
        for part in parts
    ]
    check = tf.cond(
        functools.reduce(tf.logical_or, is_wrong),
        lambda: _fail_at_first(neighbors, count, name),
        tf.no_op,
    )
    with tf.control_dependencies([check]):
        parts = [tf.identity(part) for part in parts]
    if isinstance(neighbors, tf.RaggedTensor):
        return neighbors.with_flat_values(parts[0])
    return Columns(tuple(parts)) if isinstance(neighbors, Columns) else parts[0]


def explain(error: Exception, neighbors: Neighbors, name: str) -> None:
    """Raises an error that says what is wrong with a graph, if something is.

    Args:
        error: Of a run.
        neighbors: Of the graph, which have values.
        name: Of the vertex function.
    """
    edges = known_edges(neighbors)
    if edges is not None:
        _check_known(edges, name, error)


def known_edges(neighbors: Neighbors) -> Edges | None:
    """Returns the edges of a graph whose values are known, or None."""
    if isinstance(neighbors, tf.RaggedTensor):
        values = tf.get_static_value(neighbors.values)
        splits = tf.get_static_value(neighbors.row_splits)
        if values is None or splits is None:
            return None
        count = len(splits) - 1
        return Edges(np.repeat(np.arange(count), np.diff(splits)), values, count)
    if isinstance(neighbors, Columns):
        columns = [tf.get_static_value(each) for each in neighbors.columns]
        matrix = None if any(each is None for each in columns) else np.stack(columns, 1)
    else:
        matrix = tf.get_static_value(neighbors)
    if matrix is None:
        return None
    to, slots = np.nonzero(matrix != NONE)
    return Edges(to, matrix[to, slots], len(matrix))


def _check_known(edges: Edges, name: str, cause: Exception | None = None) -> None:
    is_wrong = (edges.source < 0) | (edges.source >= edges.count)
    if is_wrong.any():
        first = np.argmax(is_wrong)
        words = map(str, (edges.target[first], edges.source[first], edges.count))
        text = "".join(_no_vertex(name, *words))
        raise tf.errors.InvalidArgumentError(None, None, text) from cause
    cycle = find_cycle(edges)
    if cycle is None:
        return
    raise tf.errors.FailedPreconditionError(
        None,
        None,
        f"The graph of vertex function '{name}' has a cycle, in which each vertex "
        f"gathers from the next: {in_words(cycle)}. The state of a vertex is made of "
        "those of its in-neighbors, so none may be made of itself. Where messages go "
        "around, each round has vertices of its own.",
    ) from cause


def _parts(neighbors: Neighbors) -> tuple[list[tf.Tensor], int]:
    """Returns tensors of all in-neighbors, and the least that one may be."""
    if isinstance(neighbors, tf.RaggedTensor):
        return [neighbors.values], 0
    if isinstance(neighbors, Columns):
        return list(neighbors.columns), NONE
    return [neighbors], NONE


def _fail_at_first(neighbors: Neighbors, count: tf.Tensor, name: str) -> Any:
    """Adds an assertion that fails, and names the first vertex that is wrong."""
    parts, lowest = _parts(neighbors)
    flat = tf.stack(parts, 1) if isinstance(neighbors, Columns) else parts[0]
    first = tf.where(tf.logical_or(flat < lowest, flat >= count))[0]
    if isinstance(neighbors, tf.RaggedTensor):
        vertex = tf.gather(neighbors.value_rowids(), first[0])
    else:
        vertex = first[0]
    numbers = vertex, tf.gather_nd(flat, first), count
    words = [tf.strings.as_string(number) for number in numbers]
    text = tf.strings.join(_no_vertex(name, *words))
    return tf.raw_ops.Assert(condition=False, data=[text])


def _no_vertex(name: str, vertex: Any, source: Any, count: Any) -> list[Any]:
    """Returns the parts of what to say of an in-neighbor that is no vertex."""
    of = f" of the graph of vertex function '{name}' has the in-neighbor "
    return ["Vertex ", vertex, of, source, ", which is none of its ", count, "."]
