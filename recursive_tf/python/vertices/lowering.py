"""A vertex function as SubGraphs, whose states are shared.

One SubGraph, with `memo=` on the vertex, is the state of a vertex. A root call asks for
the states of all vertices at once, or of those that are wanted. The executors follow
the edges; a vertex waits for its in-neighbors alone.
"""

from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.subgraphs.subgraph import SubGraph
from recursive_tf.python.tracing.function_graph import enclosing_body
from recursive_tf.python.vertices.checks import checked_neighbors
from recursive_tf.python.vertices.definition import VertexDefinition
from recursive_tf.python.vertices.graphs import Neighbors
from recursive_tf.python.vertices.inputs import checked_inputs
from recursive_tf.python.vertices.links import Links
from recursive_tf.python.vertices.outgoing import AllRows, Outgoing, WantedRows
from recursive_tf.python.vertices.pushes import Pushes
from recursive_tf.python.vertices.vertex import Surroundings, Vertex
from recursive_tf.python.vertices.wanted import checked_wanted


def add_run(
    definition: VertexDefinition,
    instance: tuple[Any, ...],
    neighbors: Neighbors,
    inputs: Any,
    wanted: tf.Tensor | None,
) -> Any:
    """Adds the run of a vertex function over a graph to the default graph.

    Args:
        definition: The function.
        instance: A tuple of the instance whose method it is, or nothing.
        neighbors: Of the graph.
        inputs: What vertices pull, or None.
        wanted: The vertices whose rows are returned, or None for all.

    Returns:
        What they push.
    """
    links = Links(checked_neighbors(neighbors, definition.name))
    inputs = checked_inputs(inputs, links.num_vertices, definition.name)
    if wanted is not None:
        wanted = checked_wanted(wanted, links.num_vertices, definition.name)
    pushes = Pushes(definition.name)
    outgoing = _define_state(definition, instance, links, inputs, pushes, wanted)
    tables = outgoing.rows()
    count = links.num_vertices if wanted is None else tf.size(wanted)
    known = tf.get_static_value(count)
    for table in tables.values():
        table.set_shape(tf.TensorShape([known]).concatenate(table.shape[1:]))
    return pushes.pack(tables)


def _define_state(
    definition: VertexDefinition,
    instance: tuple[Any, ...],
    links: Links,
    inputs: Any,
    pushes: Pushes,
    wanted: tf.Tensor | None,
) -> Outgoing:
    """Defines a SubGraph from a vertex to its state, and returns what it pushes."""
    name = definition.name
    state = SubGraph(
        name,
        output_signature=definition.state.specs,
        memo=lambda vertex: vertex,
        **definition.choices,
    )
    with state:
        index = state.input(tf.int32, name="vertex")
        body = tf_compat.default_graph()
        size = links.num_vertices

        def push_row(table: str, value: Any) -> None:
            state.push(table, value, index=index, size=size)

        outgoing: Outgoing = (
            AllRows(state, size, push_row, definition.choices)
            if wanted is None
            else WantedRows(state, wanted, push_row)
        )
        surroundings = Surroundings(
            links=links,
            inputs=inputs,
            state_of=state,
            states_of=state.map,
            push_row=outgoing.add,
            check_here=lambda verb: _check_here(verb, body, name),
        )
        vertex = Vertex(name, index, definition.state, pushes, surroundings)
        scattered = definition.run(instance, vertex, convert=True)
        outgoing.close(scattered)
        state.output(scattered)
        definition.check_pulled(vertex, inputs)
    return outgoing


def _check_here(verb: str, body: tf.Graph, name: str) -> None:
    here = tf_compat.default_graph()
    if enclosing_body(here) is not body:
        raise SubGraphError(
            f"`v.{verb}` of a vertex of '{name}' is called outside of the vertex "
            "function, or in the body of another SubGraph. Call it in the function, "
            "and hand on what it returns."
        )
    if verb == "scatter" and here is not body:
        raise SubGraphError(
            f"Vertex function '{name}' scatters in a branch or a loop. Every vertex "
            "scatters once: compute the state with tf.cond, e.g. `state = "
            "tf.cond(v.num_inputs > 0, inner, leaf)`, and call v.scatter(state) at the "
            "end of the function."
        )
