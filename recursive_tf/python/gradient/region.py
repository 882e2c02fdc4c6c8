"""The forward side of a gradient: procedures in training form.

A region is a part of a procedure that runs as a whole or not at all: its body, or a
branch of a conditional. In training form each region puts what its gradient needs
into the backprop cache, so nothing of a branch that was not taken is ever made up.
"""

from collections.abc import Callable, Iterator

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.program.closed_graph import CALLS, PUSHES
from recursive_tf.python.program.effects import contains
from recursive_tf.python.program.functional_ops import (
    add_conditional,
    copy_conditional,
    copy_loop,
)
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    FUNCTION_CALLS,
    LOOPS,
    GraphCopy,
    Rewrite,
    branch_graphs,
    inline_call,
)
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tf_compat import FuncGraph

CONDITIONAL_GRADIENT = "RecursiveConditional"
PRODUCT_GRADIENT = "RecursiveCaptureProduct"
PYTHON_GRADIENT = "RecursivePythonFunction"


def _copy_python_function(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
    """Copies a `tf.py_function`, which gets a gradient of ours."""
    new = copy.copy_as_is(op)
    tf_compat.set_gradient(new, PYTHON_GRADIENT)
    return list(new.outputs)


# TensorFlow differentiates loops. What is in them is copied all the same, because it
# changes their graphs, and knows too little of those that it makes of functions. Calls
# of functions are inlined: a copied one would have lost its gradient.
_IN_LOOPS = Rewrite(
    {
        **dict.fromkeys(CONDITIONALS, copy_conditional),
        **dict.fromkeys(LOOPS, copy_loop),
        **dict.fromkeys(FUNCTION_CALLS, inline_call),
        "EagerPyFunc": _copy_python_function,
    }
)


class Region:
    """A body or a branch in training form.

    Attributes:
        copy: From the closed graph to this one.
        index: Names the region within its procedure, in the backprop cache.
        handle: The activation handle in this graph.
        captures: Which capture of the program a tensor of this graph is, by id.
        branches: The regions of each conditional's branches, by the op's name.
        pushes: The value, the row and the slot of each push.
        tokens: Outputs of ops that may push, which are visited for that alone.
    """

    def __init__(self, copy: GraphCopy, index: int, handle: tf.Tensor) -> None:
        self.copy = copy
        self.index = index
        self.handle = handle
        self.captures: dict[int, int] = {}
        self.branches: dict[str, list[Region]] = {}
        self.pushes: list[tuple[tf.Tensor, tf.Tensor, int]] = []
        self.tokens: list[tf.Tensor] = []

    @property
    def graph(self) -> FuncGraph:
        """The graph in training form."""
        return self.copy.target

    def find(self, tensor: tf.Tensor) -> tf.Tensor | None:
        """Returns what a tensor of this region, traced, closed or copied, is here."""
        if tensor.graph is self.graph:
            return tensor
        found = self.copy.find(tensor)
        return found if found is not None and found.graph is self.graph else None

    def capture_of(self, tensor: tf.Tensor) -> int | None:
        """Returns which capture a tensor is, also behind reads and identities."""
        while tensor.op.type in ("Identity", "ReadVariableOp"):
            tensor = tensor.op.inputs[0]
        return self.captures.get(id(tensor))

    def differentiable_inputs(self) -> list[tf.Tensor]:
        """Returns the inputs of the graph that a gradient may be taken by."""
        return [
            t
            for t in self.graph.inputs
            if t is not self.handle
            and (is_trainable(t.dtype) or t.dtype == tf.variant or self._is_weight(t))
        ]

    def _is_weight(self, tensor: tf.Tensor) -> bool:
        return tensor.dtype == tf.resource and id(tensor) in self.captures

    def keep(self, values: list[tf.Tensor]) -> None:
        """Puts `values` into the backprop cache."""
        if values:
            with self.graph.as_default():
                library.recursive_keep(
                    handle=self.handle, values=values, region=self.index
                )


class TrainingForm:
    """Makes regions of the closed procedures of one program.

    Args:
        may_push: Says whether a procedure, by its index, or one it calls, pushes.
        runs_once: Whether there is one invocation in all. Then products have
            TensorFlow's own gradients: there are no factors to collect.
    """

    def __init__(
        self, may_push: Callable[[int], bool], *, runs_once: bool = False
    ) -> None:
        self._may_push = may_push
        self._runs_once = runs_once
        self._num_regions = 0
        self._regions: dict[int, Region] = {}
        self._rewrite = Rewrite(
            {
                **dict.fromkeys(CONDITIONALS, self._copy_conditional),
                **dict.fromkeys(LOOPS, self._copy_loop),
                **dict.fromkeys(CALLS, self._copy_call),
                **dict.fromkeys(FUNCTION_CALLS, inline_call),
                "EagerPyFunc": _copy_python_function,
                "RecursivePush": self._copy_push,
                "MatMul": self._copy_product,
            }
        )

    def region_of(self, procedure: FuncGraph, capture_indices: list[int]) -> Region:
        """Returns a closed procedure's body in training form.

        Args:
            procedure: Takes a handle, arguments, and captures.
            capture_indices: Which captures of the program these are.
        """
        target = FuncGraph(tf_compat.unique_name("kept"))
        copy = GraphCopy(procedure, target, self._rewrite)
        for source in procedure.inputs:
            copy.bind_input(source)
        region = self._new_region(copy, target.inputs[0])
        first = len(target.inputs) - len(capture_indices)
        for argument, index in zip(target.inputs[first:], capture_indices, strict=True):
            region.captures[id(argument)] = index
        copy.run()
        return region

    def _new_region(self, copy: GraphCopy, handle: tf.Tensor) -> Region:
        region = Region(copy, self._num_regions, handle)
        self._num_regions += 1
        self._regions[id(copy.target)] = region
        return region

    def _copy_conditional(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        region = self._regions[id(copy.target)]
        pushes = self._pushes(op)
        children = [
            self._copy_branch(copy, op, graph, token=pushes)
            for graph in branch_graphs(op)
        ]
        with copy.target.as_default():
            new = add_conditional(
                copy.resolve(op.inputs[0]),
                [child.graph for child in children],
                by_index="Case" in op.type,
                name=op.name,
            )
        tf_compat.set_gradient(new, CONDITIONAL_GRADIENT)
        copy.register(op, new)
        region.branches[new.name] = children
        if pushes:
            region.tokens.append(new.outputs[-1])
        return list(new.outputs)[: len(op.outputs)]

    def _copy_branch(
        self, copy: GraphCopy, op: tf.Operation, graph: FuncGraph, *, token: bool
    ) -> Region:
        outer = self._regions[id(copy.target)]
        branch = copy.branch(graph, list(op.inputs)[1:], "branch")
        region = self._new_region(branch, branch.target.capture(outer.handle))
        # What a branch takes from outside is known before it is copied, so that its
        # substitutions can tell captures: capture all of it.
        for placeholder, argument in zip(
            graph.inputs, list(op.inputs)[1:], strict=True
        ):
            index = outer.captures.get(id(copy.resolve(argument)))
            if index is not None:
                inner = branch.target.capture(copy.resolve(argument))
                branch.bind(placeholder, inner)
                region.captures[id(inner)] = index
        branch.run()
        if token:
            branch.target.outputs.append(region.handle)
        return region

    def _copy_loop(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        if self._pushes(op):
            raise NotImplementedError(
                f"The loop '{op.name}' in a SubGraph pushes, or what it calls does, "
                "and a push in a loop has no gradient yet. Push outside of the loop, "
                "write the loop as a recursion, or use the batched executor."
            )
        return copy_loop(copy, op, _IN_LOOPS)

    def _copy_call(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        new = copy.copy_as_is(op)
        if self._pushes(op):
            self._regions[id(copy.target)].tokens.append(new.outputs[-1])
        return list(new.outputs)

    def _copy_push(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        new = copy.copy_as_is(op)
        _, index, value = new.inputs
        if is_trainable(value.dtype):
            push = (value, index, op.get_attr("slot"))
            self._regions[id(copy.target)].pushes.append(push)
        return []

    def _copy_product(
        self, copy: GraphCopy, op: tf.Operation
    ) -> list[tf.Tensor] | None:
        if self._runs_once or op.outputs[0].dtype.is_complex:
            return None
        region = self._regions[id(copy.target)]
        weights = [region.capture_of(copy.resolve(t)) for t in op.inputs]
        if sum(weight is not None for weight in weights) != 1:
            return None
        new = copy.copy_as_is(op)
        tf_compat.set_gradient(new, PRODUCT_GRADIENT)
        return list(new.outputs)

    def _pushes(self, op: tf.Operation) -> bool:
        return contains(op, PUSHES) or any(map(self._may_push, callees_within(op)))


def callees_within(op: tf.Operation) -> Iterator[int]:
    """Yields the procedures that `op`, or an op of a function it names, calls."""
    if op.type in CALLS:
        yield op.get_attr("callee")
    for graph in branch_graphs(op):
        for inner in graph.get_operations():
            yield from callees_within(inner)
