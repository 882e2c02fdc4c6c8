"""The recursion over a forest: a node's state is made of its children's."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from recursive_tf.layers.checked_starts import checked_nodes, checked_roots
from recursive_tf.layers.links import children_of, with_parents
from recursive_tf.python.options import Options
from recursive_tf.python.subgraphs.subgraph import SubGraph, root_call_of

if TYPE_CHECKING:
    from recursive_tf.data import Forest
    from recursive_tf.layers.node_cell import NodeCell

OUTPUT = "output"


@dataclasses.dataclass(frozen=True)
class Recursion:
    """A cell, ready to run over any forest.

    Attributes:
        cell: What a node computes.
        state: The specs of a state.
        name: Of the SubGraph.
        executor: Of the SubGraph.
        options: Of the SubGraph.
        return_state: Whether to return states behind the outputs.
        dag: Whether nodes may share children, which are then evaluated once.
    """

    cell: NodeCell
    state: Any
    name: str
    executor: str = "auto"
    options: Options | None = None
    return_state: bool = False
    dag: bool = False

    def of_roots(self, forest: Forest, input_of: Callable[[tf.Tensor], Any]) -> Any:
        """Returns outputs of roots: [num_trees, ...], or [...] for a tree.

        Args:
            forest: A tree or a batch of trees.
            input_of: Returns what a node takes, by its number, in the body.
        """
        encode = self._subgraph(self.name, shared=self.dag)
        state_of = self._body(forest, forest.is_leaf, input_of)
        with encode:
            encode.output(state_of(encode, encode.input(tf.int32)))
        roots = checked_roots(forest, self.cell, self.name, dag=self.dag)
        if forest.shape.rank == 0:
            return self._shown(encode(roots))
        return self._all_shown(encode.map(roots))

    def of_nodes(self, forest: Forest, input_of: Callable[[tf.Tensor], Any]) -> Any:
        """Returns outputs of all nodes: [num_nodes, ...]; arguments as `of_roots`.

        Where children are lists, the batched executor is asked for all nodes at once.
        Then each waits for its children alone, and no launch goes down from the roots.
        """
        nodes = checked_nodes(forest, self.cell, self.name, dag=self.dag)
        at_once = self._at_once(forest, input_of)
        if at_once is not None:
            each, shown = at_once
            _, pushed = each.map(nodes, with_pushed=True)
        else:
            encode, shown = self._pushing(forest, input_of, shared=self.dag)
            run = encode.map if forest.shape.rank else encode
            _, pushed = run(tf.gather(nodes, forest.roots), with_pushed=True)
        count = len(tf.nest.flatten(shown))
        parts = [pushed[f"{OUTPUT}_{number}"] for number in range(count)]
        return tf.nest.pack_sequence_as(shown, parts)

    def going_down(self, forest: Forest, input_of: Callable[[tf.Tensor], Any]) -> Any:
        """Returns outputs of all nodes, each of which is made of its parents.

        The cell takes these as it does children, and a root as it does a leaf.
        """
        nodes = checked_nodes(forest, None, self.name, dag=self.dag)
        with tf.control_dependencies([nodes]):
            turned = with_parents(forest)
        # Made of the nodes, so that no optimizer takes the check of links away.
        starts = tf.reshape(tf.gather(nodes, forest.roots), [-1, 1])
        begins = tf.scatter_nd(
            starts, tf.ones_like(starts[:, 0], tf.bool), [forest.num_nodes]
        )
        # All nodes are asked for at once, and children share their parent.
        encode = self._subgraph(self.name, shared=True)
        state_of = self._body(turned, begins, input_of)
        with encode:
            encode.output(state_of(encode, encode.input(tf.int32)))
        return self._all_shown(encode.map(nodes))

    def _at_once(
        self, forest: Forest, input_of: Callable[[tf.Tensor], Any]
    ) -> tuple[SubGraph, Any] | None:
        """Returns what takes a node and only asks for its state; and what is pushed.

        Returns None where it takes longer than from the roots: so many children as are
        known are looked up without a launch, and in the dataflow executor to share a
        node costs more than to call it.
        """
        if self.cell.num_children is not None or self.executor == "dataflow":
            return None
        encode, shown = self._pushing(forest, input_of, shared=True)
        with SubGraph(
            f"{self.name}_nodes", executor=self.executor, options=self.options
        ) as each:
            encode(each.input(tf.int32))
            each.output()
        is_batched = root_call_of(each).compilation_of(mapped=True) is not None
        return (each, shown) if is_batched else None

    def _pushing(
        self, forest: Forest, input_of: Callable[[tf.Tensor], Any], *, shared: bool
    ) -> tuple[SubGraph, Any]:
        """Returns the recursion, in which each node pushes its outputs; and these."""
        encode = self._subgraph(self.name, shared=shared)
        state_of = self._body(forest, forest.is_leaf, input_of)
        with encode:
            node = encode.input(tf.int32)
            found = state_of(encode, node)
            shown = self._shown(found)
            size = forest.num_nodes
            for number, part in enumerate(tf.nest.flatten(shown)):
                encode.push(f"{OUTPUT}_{number}", part, index=node, size=size)
            encode.output(found)
        return encode, shown

    def _subgraph(self, name: str, *, shared: bool = False) -> SubGraph:
        return SubGraph(
            name,
            output_signature=self.state,
            memo=(lambda node: node) if shared else None,
            executor=self.executor,
            options=self.options,
        )

    def _body(
        self,
        forest: Forest,
        is_leaf: tf.Tensor,
        input_of: Callable[[tf.Tensor], Any],
    ) -> Callable[[SubGraph, tf.Tensor], Any]:
        """Returns what gives the state of a node, in the body of a SubGraph."""
        cell = self.cell
        visit_children = children_of(forest, cell, self.state)

        def state_of(encode: SubGraph, node: tf.Tensor) -> Any:
            def leaf() -> Any:
                return cell.leaf(input_of(node))

            def internal() -> Any:
                x = input_of(node) if cell.takes_x_inside else None
                return cell.internal(visit_children(encode, node), x)

            return tf.cond(tf.gather(is_leaf, node), leaf, internal)

        return state_of

    def _shown(self, state: Any) -> Any:
        """Returns what the outside gets of a state."""
        output = self.cell.output(state)
        return (output, state) if self.return_state else output

    def _all_shown(self, states: Any) -> Any:
        """Returns what the outside gets of many states."""
        if not self.cell.has_own_output:
            return self._shown(states)
        # A cell's own output is written for one state.
        with SubGraph(
            f"{self.name}_output", executor=self.executor, options=self.options
        ) as output:
            output.output(self.cell.output(output.input(self.state)))
        outputs = output.map(states)
        return (outputs, states) if self.return_state else outputs
