"""The recursion over a forest: a node's state is made of its children's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from recursive_tf.layers.checked_roots import checked_roots
from recursive_tf.layers.links import children_of
from recursive_tf.python.options import Options
from recursive_tf.python.subgraphs.subgraph import SubGraph

if TYPE_CHECKING:
    from recursive_tf.data import Forest
    from recursive_tf.layers.node_cell import NodeCell

OUTPUT = "output"


def encode_forest(  # noqa: PLR0913 (what a recursion is made of)
    forest: Forest,
    cell: NodeCell,
    input_of: Callable[[tf.Tensor], Any],
    state: Any,
    *,
    name: str,
    executor: str = "auto",
    options: Options | None = None,
    return_nodes: bool = False,
    dag: bool = False,
) -> tf.Tensor:
    """Runs a cell over every node of a forest.

    Args:
        forest: A tree or a batch of trees.
        cell: What a node computes.
        input_of: Returns what a node takes, by its number, in the body.
        state: The specs of a state.
        name: Of the SubGraph.
        executor: Of the SubGraph.
        options: Of the SubGraph.
        return_nodes: Whether to return the outputs of all nodes, not of the roots.
        dag: Whether nodes may share children, which are then evaluated once.

    Returns:
        [num_trees, ...], or [...] for a tree, or [num_nodes, ...] for all nodes.
    """
    choices: dict[str, Any] = {"executor": executor, "options": options}
    visit_children = children_of(forest, cell, state)
    is_leaf = forest.is_leaf
    encode = SubGraph(
        name,
        output_signature=state,
        memo=(lambda node: node) if dag else None,
        **choices,
    )
    with encode:
        node = encode.input(tf.int32)

        def leaf() -> Any:
            return cell.leaf(input_of(node))

        def internal() -> Any:
            x = input_of(node) if cell.takes_x_inside else None
            return cell.internal(visit_children(encode, node), x)

        found = tf.cond(tf.gather(is_leaf, node), leaf, internal)
        if return_nodes:
            size = forest.num_nodes
            encode.push(OUTPUT, cell.output(found), index=node, size=size)
        encode.output(found)

    roots = checked_roots(forest, cell, name, dag=dag)
    is_batch = bool(forest.shape.rank)
    run = encode.map if is_batch else encode
    if return_nodes:
        _, pushed = run(roots, with_pushed=True)
        return pushed[OUTPUT]
    of_roots = run(roots)
    if not is_batch or not cell.has_own_output:
        return cell.output(of_roots)
    # A cell's own output is written for one state.
    with SubGraph(f"{name}_output", **choices) as output:
        output.output(cell.output(output.input(state)))
    return output.map(of_roots)
