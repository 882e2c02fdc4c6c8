"""The tangent of an op by its gradient.

What a gradient function makes of cotangents u is linear in u: the transpose of the
derivative, applied to u. So the gradient of that by u is the derivative itself. What
TensorFlow, or a user, says of one way is all that must be known.
"""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.dense import dense
from recursive_tf.python.program.graph_copy import GraphCopy, Rewrite
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tangent.no_tangent import NoTangent, Tangent
from recursive_tf.python.tf_compat import FuncGraph

# What these give depends on shapes alone.
_OF_SHAPES = frozenset(("OnesLike", "Rank", "Shape", "ShapeN", "Size", "ZerosLike"))
_IN_ANY_ORDER = Rewrite(keeps_order=lambda *_: False)
_UNKNOWN = "it has none in TensorFlow. Use another op, or tf.stop_gradient around it."
_NOT_LINEAR = (
    "its gradient function is not linear in the gradient that it is given, so that "
    "there is none, or not known to be. Do that outside of the SubGraph."
)


def tangents_by_gradient(
    op: tf.Operation, tangents: Sequence[tf.Tensor | None]
) -> Sequence[Tangent]:
    """Adds the tangents of an op's outputs to the default graph.

    Args:
        op: The op.
        tangents: Of its inputs. At least one is not None.
    """
    try:
        if any(output.dtype == tf.variant for output in op.outputs):
            raise LookupError  # Nothing is known of the lists that these are.
        return _Scratch(op, tangents).results()
    except LookupError:
        unknown = NoTangent(op, _UNKNOWN)
    except _NotLinearError:
        unknown = NoTangent(op, _NOT_LINEAR)
    except NotImplementedError as error:  # Of a custom gradient.
        unknown = NoTangent(op, str(error))
    return [unknown] * len(op.outputs)


class _NotLinearError(Exception):
    """A tangent depends on the cotangents."""


class _Scratch:
    """A graph with a copy of an op and its gradient, of which only a part is needed."""

    def __init__(self, op: tf.Operation, tangents: Sequence[tf.Tensor | None]) -> None:
        self._op = op
        self._tangents = tangents
        self._target = tf_compat.default_graph()
        self._graph = FuncGraph(tf_compat.unique_name("tangent"))
        self._copy = GraphCopy(self._graph, self._target, _IN_ANY_ORDER)
        self._inputs = [self._place(tensor) for tensor in op.inputs]
        self._new = tf_compat.create_op(self._graph, op, self._inputs)
        for inside, outside in zip(self._new.outputs, op.outputs, strict=True):
            self._copy.bind(inside, outside)
        self._cotangents = [
            tf_compat.placeholder_like(self._graph, y)
            if is_trainable(y.dtype)
            else None
            for y in self._new.outputs
        ]

    def results(self) -> list[tf.Tensor | None]:
        """Returns the tangents of the op's outputs, in the target."""
        with self._graph.as_default():
            found = self._transposed()
        for external, internal in self._graph.captures:
            if isinstance(external, tf_compat.EagerTensor):
                external = _constant(external)
            self._copy.bind(internal, external)
        self._copy_needed([tensor for tensor in found if tensor is not None])
        return [None if t is None else self._copy.resolve(t) for t in found]

    def _place(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns what stands for an input of the op; constants are known there."""
        if tensor.op.type == "Const":
            return tf_compat.create_op(self._graph, tensor.op, []).outputs[0]
        placeholder = tf_compat.placeholder_like(self._graph, tensor)
        self._copy.bind(placeholder, tensor)
        return placeholder

    def _transposed(self) -> list[tf.Tensor | None]:
        function = tf_compat.gradient_function(self._new)
        none = [None] * len(self._op.outputs)
        if function is None:
            return none
        gradients = function(self._new, *self._cotangents)
        if not isinstance(gradients, list | tuple):
            gradients = [gradients]
        ys, dys = [], []
        for gradient, tangent in zip(gradients, self._tangents, strict=True):
            if gradient is None or tangent is None:
                continue
            given = self._place(tangent)
            if isinstance(gradient, tf.IndexedSlices):
                given = tf.gather(given, gradient.indices)
                gradient = gradient.values
                given = tf.reshape(given, tf.shape(gradient))
            ys.append(gradient)
            dys.append(given)
        if not ys:
            return none
        us = [u for u in self._cotangents if u is not None]
        found = iter(tf_compat.gradients_between(ys, us, dys, self._graph))
        gradients = (None if u is None else next(found) for u in self._cotangents)
        return [
            None if g is None else dense(g, u)
            for g, u in zip(gradients, self._cotangents, strict=True)
        ]

    def _copy_needed(self, results: list[tf.Tensor]) -> None:
        """Copies what the results depend on. Of cotangents that may be shapes alone."""
        needed = self._needed_ops(results)
        for u, output in zip(self._cotangents, self._op.outputs, strict=True):
            if u is not None:
                self._copy.bind(u, output)
        self._copy.copy_ops(only=needed)
        for op in needed:
            tf_compat.set_origin(self._copy.copied(op.name), self._op)

    def _needed_ops(self, results: list[tf.Tensor]) -> set[tf.Operation]:
        cotangents = {id(u) for u in self._cotangents if u is not None}
        needed: set[tf.Operation] = set()
        seen: set[tuple[int, bool]] = set()
        # A tensor, and whether its value matters, or nothing but its shape.
        todo = [(tensor, True) for tensor in results]
        while todo:
            tensor, by_value = todo.pop()
            if (id(tensor), by_value) in seen or id(tensor) in self._copy.values:
                continue
            seen.add((id(tensor), by_value))
            if id(tensor) not in cotangents:
                needed.add(tensor.op)
                by_value = by_value and tensor.op.type not in _OF_SHAPES
                todo += [(source, by_value) for source in tensor.op.inputs]
            elif by_value:
                raise _NotLinearError
        return needed


def _constant(tensor: tf_compat.EagerTensor) -> tf.Tensor:
    """Returns what a custom gradient uses of the outside, in the default graph."""
    if tensor.dtype in (tf.resource, tf.variant):
        raise NotImplementedError(
            "its custom gradient uses a variable which the op does not take. Make it "
            "an argument of the function with the custom gradient."
        )
    return tf.constant(tensor.numpy(), tensor.dtype)
