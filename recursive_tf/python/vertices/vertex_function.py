"""`VertexFunction`: what `rtf.vertex` makes of a Python function."""

import functools
import inspect
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.subgraphs.decorator import plain as plain_subgraphs
from recursive_tf.python.subgraphs.tracebacks import called_by_users
from recursive_tf.python.tracing.function_graph import enclosing_body
from recursive_tf.python.vertices import plain
from recursive_tf.python.vertices.checks import explain
from recursive_tf.python.vertices.definition import VertexDefinition
from recursive_tf.python.vertices.graphs import (
    Neighbors,
    known_count_of,
    neighbors_of,
)
from recursive_tf.python.vertices.inputs import as_inputs
from recursive_tf.python.vertices.lowering import add_run
from recursive_tf.python.vertices.wanted import as_wanted


class VertexFunction:
    """A function of one vertex, which a call runs over all vertices of a graph.

    As an attribute of a class it is a method. A call in a `tf.function` is a part of
    it; an eager call is traced once for each signature.

    Thread safety: all of it.

    Args:
        definition: What it runs.
        instance: A tuple of the instance whose method it is, or nothing.
        traced: What eager calls run, of another one for the same definition.
    """

    def __init__(
        self,
        definition: VertexDefinition,
        instance: tuple[Any, ...] = (),
        traced: Any = None,
    ) -> None:
        self._definition = definition
        self._instance = instance
        self._traced = traced or _traced_runs(definition)
        functools.update_wrapper(self, definition.function)
        # Of a call, and not of the function.
        self.__signature__ = inspect.signature(self.__call__)

    def __get__(self, instance: Any, owner: type | None = None) -> "VertexFunction":
        """Returns the method of an instance."""
        if instance is None or self._instance:
            return self
        return VertexFunction(self._definition, (instance,), self._traced)

    @property
    def name(self) -> str:
        """The name, for errors and ops."""
        return self._definition.name

    @called_by_users
    def __call__(self, graph: Any, inputs: Any = None, *, at: Any = None) -> Any:
        """Runs the function for every vertex, each after its in-neighbors.

        Vertices whose in-neighbors are done are computed at once.

        With `at=`, only vertices that those of `at` depend on are computed, and only
        rows of `at` are returned, e.g. of the roots of trees. What a vertex pushes of
        its state, as `v.scatter(h)` and `v.push(h)`, is then not kept for others.

        Args:
            graph: A `recursive_tf.data.Forest`, whose nodes are vertices, and their
                children their in-neighbors; or the in-neighbors of each vertex: a
                `tf.RaggedTensor` int [num_vertices, None], or an int tensor
                [num_vertices, k] with -1 for none. There is no cycle in it.
            inputs: What vertices pull: a tensor [num_vertices, ...], also ragged, or a
                structure of them.
            at: The vertices whose rows are returned, int [num_wanted], in any order,
                also twice; None is all, in their order.

        Returns:
            What the vertices pushed, [num_vertices, ...], or [num_wanted, ...], in the
            structure that they did; if pushes have names, a dict of that.

        Raises:
            SubGraphError: If arguments do not fit, if the function is wrong, or in the
                body of a SubGraph.
            tf.errors.InvalidArgumentError: When it runs, if an in-neighbor is no
                vertex, or one of `at`, or inputs have not a row for each vertex.
            tf.errors.FailedPreconditionError: When it runs, if there is a cycle.
        """
        name = self.name
        body = enclosing_body(tf_compat.default_graph())
        if body is not None:
            raise SubGraphError(
                f"Vertex function '{name}' is called in the body of SubGraph "
                f"'{body.subgraph_name}': a call runs over a whole graph. Call it "
                "outside, and use what it returns in the body."
            )
        neighbors = neighbors_of(graph, name)
        inputs = as_inputs(inputs, known_count_of(neighbors), name)
        arguments = self._instance, neighbors, inputs, as_wanted(at, name)
        if not tf.executing_eagerly():
            return add_run(self._definition, *arguments)
        if plain_subgraphs.is_wanted():
            return plain.run(self._definition, *arguments)
        try:
            return self._call_traced(arguments)
        except (
            tf.errors.FailedPreconditionError,
            tf.errors.InvalidArgumentError,
        ) as error:
            explain(error, neighbors, name)
            raise

    def _call_traced(self, arguments: tuple[Any, ...]) -> Any:
        """Calls what is traced for graphs of any size."""
        concrete = self._concrete(arguments, forward=False)
        tensors = tf.nest.flatten(arguments[1:], expand_composites=True)
        if tf_compat.have_tangents([*tensors, *concrete.captured_inputs]):
            # TensorFlow fails at a function that a tape recorded before.
            concrete = self._concrete(arguments, forward=True)
            return concrete(True, *arguments)
        return concrete(False, *arguments)

    def _concrete(self, arguments: tuple[Any, ...], *, forward: bool) -> Any:
        specs = tf.nest.map_structure(_of_any_size, arguments[1:])
        # Forward mode follows calls of what was traced before it began.
        with tf_compat.pause_outer_tapes():
            return self._traced.get_concrete_function(forward, self._instance, *specs)

    def __repr__(self) -> str:
        """Returns the name."""
        return f"<rtf.vertex '{self.name}'>"


def traced_function_of(function: VertexFunction) -> Any:
    """Returns the `tf.function` that eager calls of a vertex function run."""
    return function._traced


def _traced_runs(definition: VertexDefinition) -> Any:
    """Returns what eager calls run; that of forward mode is traced apart."""

    def run(
        forward: bool,
        instance: tuple[Any, ...],
        neighbors: Neighbors,
        inputs: Any,
        wanted: tf.Tensor | None,
    ) -> Any:
        del forward
        return add_run(definition, instance, neighbors, inputs, wanted)

    return tf.function(run, autograph=False)


def _of_any_size(argument: Any) -> Any:
    """Returns the spec of a tensor with any number of rows; else what is given."""
    if not isinstance(argument, (tf.Tensor, tf.RaggedTensor)):
        return argument
    shape = tf.TensorShape([None]).concatenate(argument.shape[1:])
    if isinstance(argument, tf.Tensor):
        return tf.TensorSpec(shape, argument.dtype)
    return tf.RaggedTensorSpec(
        shape, argument.dtype, argument.ragged_rank, argument.row_splits.dtype
    )
