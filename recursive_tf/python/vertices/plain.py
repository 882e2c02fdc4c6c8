"""Runs a vertex function as plain Python, vertex by vertex, so that a debugger stops.

`tf.config.run_functions_eagerly(True)` asks for it, as of decorated SubGraphs.
"""

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python.subgraphs.decorator.pushed_rows import PushedRows
from recursive_tf.python.vertices.checks import checked_neighbors, known_edges
from recursive_tf.python.vertices.cycles import order_of, those_below
from recursive_tf.python.vertices.definition import VertexDefinition
from recursive_tf.python.vertices.graphs import Neighbors
from recursive_tf.python.vertices.inputs import checked_inputs
from recursive_tf.python.vertices.links import Links
from recursive_tf.python.vertices.pushes import Pushes
from recursive_tf.python.vertices.vertex import Surroundings, Vertex
from recursive_tf.python.vertices.wanted import checked_wanted


def run(
    definition: VertexDefinition,
    instance: tuple[Any, ...],
    neighbors: Neighbors,
    inputs: Any,
    wanted: tf.Tensor | None,
) -> Any:
    """Returns what the vertices push, each after its in-neighbors."""
    links = Links(checked_neighbors(neighbors, definition.name))
    inputs = checked_inputs(inputs, links.num_vertices, definition.name)
    if wanted is not None:
        wanted = checked_wanted(wanted, links.num_vertices, definition.name)
    count = int(links.num_vertices)
    states: list[Any] = [None] * count
    pushes, rows = Pushes(definition.name), PushedRows()

    def states_of(vertices: tf.Tensor) -> Any:
        found = [states[int(vertex)] for vertex in np.asarray(vertices)]
        if not found:
            return tf.nest.map_structure(
                lambda s: tf.zeros([0, *s.shape], s.dtype), definition.state.specs
            )
        return tf.nest.map_structure(lambda *each: tf.stack(each), *found)

    edges = known_edges(neighbors)
    assert edges is not None
    order = order_of(edges)
    if wanted is not None:
        # One has to run, so that it is known what vertices push.
        order = those_below(wanted.numpy().tolist(), order, edges) or order[:1]
    for index in order:
        surroundings = Surroundings(
            links=links,
            inputs=inputs,
            state_of=lambda vertex: states[int(vertex)],
            states_of=states_of,
            push_row=functools.partial(_push, rows, index, count),
            check_here=lambda verb: None,
        )
        vertex = Vertex(
            definition.name, tf.constant(index), definition.state, pushes, surroundings
        )
        states[index] = definition.run(instance, vertex, convert=False)
        definition.check_pulled(vertex, inputs)
    tables = rows.tables()
    if wanted is not None:
        tables = {name: tf.gather(table, wanted) for name, table in tables.items()}
    return pushes.pack(tables)


def _push(rows: PushedRows, index: int, count: int, table: str, value: Any) -> None:
    rows.add(table, tf.convert_to_tensor(value), index, count)
