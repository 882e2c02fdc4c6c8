"""Whether a graph is one: every in-neighbor is a vertex, and none waits for itself.

A graph that is known while a function is traced is looked at once, then. Others are
looked at when they run: for cycles only where the run finds that somebody waits for
itself.
"""

import functools

import numpy as np
import tensorflow as tf

from recursive_tf.python.vertices.cycles import Edges, find_cycle, in_words
from recursive_tf.python.vertices.graphs import (
    NONE,
    Columns,
    Neighbors,
    count_of,
)
from recursive_tf.python.vertices.numbers import NONE_OF_ITS, checked_vertices


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
    check = functools.partial(
        checked_vertices, count=count_of(neighbors), says=_no_vertex(name)
    )
    if isinstance(neighbors, tf.RaggedTensor):
        splits = [neighbors.row_splits]
        (values,) = check([neighbors.values], lowest=0, splits=splits)
        return neighbors.with_values(values)
    if isinstance(neighbors, Columns):
        return Columns(tuple(check(neighbors.columns, lowest=NONE)))
    return check([neighbors], lowest=NONE)[0]


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
        vertex, of = _no_vertex(name)
        text = f"{vertex}{edges.target[first]}{of}{edges.source[first]}"
        text += f"{NONE_OF_ITS}{edges.count}."
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


def _no_vertex(name: str) -> tuple[str, str]:
    """Returns what an error says before a vertex and before its in-neighbor."""
    of = f" of the graph of vertex function '{name}' has the in-neighbor "
    return "Vertex ", of
