"""Gradients of the prologue's values, and through them of the captures."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.differentiate.reverse_mode import stops
from recursive_tf.python.batching.vectorize.late_parts import LatePart, late_parts
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.gradient.sinks import add_up, shape_of, slices_of
from recursive_tf.python.program.graph_copy import GraphCopy, Outside
from recursive_tf.python.program.trainable import is_trainable

# A gradient: one tensor, or values and indices of slices.
Parts = list[tf.Tensor]


class PrologueGradients:
    """What comes to values of the prologue, on its way to captures.

    What is hoisted is smooth, so zeros may go through it. A late part is gone through
    at run time, if a gradient came to one of its takers: see late_parts.py.

    Args:
        prologue: The prologue.
        captures: Of the program.
        reached: Whether a gradient came to each taker.
    """

    def __init__(
        self, prologue: Prologue, captures: Sequence[tf.Tensor], reached: tf.Tensor
    ) -> None:
        self._prologue = prologue
        self._captures = captures
        self._reached = reached
        # By capture. Many of the prologue's values are captures as they are.
        self._gradients: list[list[Any]] = [[] for _ in captures]
        self._inputs = {
            id(tensor): capture
            for tensor, capture in zip(
                prologue.graph.inputs, prologue.captures, strict=True
            )
        }
        self._hoisted: list[tuple[tf.Tensor, Parts]] = []
        self._late: list[tuple[tf.Tensor, Parts, list[int]]] = []

    def add(self, tensor: tf.Tensor, parts: Parts, takers: list[int]) -> None:
        """Adds a gradient of a value that came from some of its takers."""
        capture = self._inputs.get(id(tensor))
        if capture is not None:
            gradient: Any = parts[0]
            if len(parts) > 1:
                gradient = slices_of(self._captures[capture], *parts)
            self._gradients[capture].append(gradient)
        elif self._prologue.is_late(tensor):
            self._late.append((tensor, parts, takers))
        else:
            self._hoisted.append((tensor, parts))

    def of_captures(self) -> list[Any]:
        """Returns a gradient or None for each capture."""
        wanted = [(tensor, takers) for tensor, _, takers in self._late]
        parts = late_parts(self._prologue, wanted, lambda op: not stops(op))
        for part in reversed(parts):
            self._go_through(part)
        if self._hoisted:
            prologue = self._prologue.graph
            xs = [t for t in prologue.inputs if is_trainable_or_handle(t)]
            for tensor, gradient in zip(
                xs, self._differentiate(self._hoisted, xs), strict=True
            ):
                if gradient is not None:
                    self._gradients[self._inputs[id(tensor)]].append(gradient)
        return [add_up(gradients) for gradients in self._gradients]

    def _go_through(self, part: LatePart) -> None:
        """Hands on what came to a late part, if anything did."""
        outputs = set(map(id, part.outputs))
        given = [(t, parts) for t, parts, _ in self._late if id(t) in outputs]
        xs = list(filter(is_trainable_or_handle, part.inputs))
        if not xs or not given:
            return
        found: list[tuple[tf.Tensor, list[tf.TensorSpec]]] = []

        def gradients() -> Parts:
            flat: Parts = []
            for x, gradient in zip(xs, self._differentiate(given, xs), strict=True):
                if gradient is not None:
                    own = self._parts_of(x, gradient)
                    specs = [tf.TensorSpec(t.shape, t.dtype) for t in own]
                    found.append((x, specs))
                    flat += own
            return flat

        def zeros() -> Parts:
            return [
                self._zeros(x, spec, is_slices=len(specs) > 1)
                for x, specs in found
                for spec in specs
            ]

        takers = sorted(part.takers)
        is_reached = tf.reduce_any(tf.gather(self._reached, takers))
        flat = iter(tf.nest.flatten(tf.cond(is_reached, gradients, zeros)))
        for x, specs in found:
            self.add(x, [next(flat) for _ in specs], takers)

    def _parts_of(self, x: tf.Tensor, gradient: Any) -> Parts:
        """Returns a gradient as slices if it is, and of a capture."""
        if isinstance(gradient, tf.IndexedSlices) and id(x) in self._inputs:
            return [gradient.values, gradient.indices]
        return [tf.convert_to_tensor(gradient)]

    def _zeros(
        self, x: tf.Tensor, spec: tf.TensorSpec, *, is_slices: bool
    ) -> tf.Tensor:
        """Returns what stands for a gradient like `spec` that is not there."""
        if is_slices:
            return tf.zeros([0, *spec.shape[1:]], spec.dtype)
        if spec.shape.is_fully_defined():
            return tf.zeros(spec.shape, spec.dtype)
        if id(x) in self._inputs:
            shape = shape_of(self._captures[self._inputs[id(x)]])
            return tf.zeros(shape, spec.dtype)
        if self._prologue.is_late(x):  # And is not there. What is adds up with this.
            return tf.zeros([1] * (spec.shape.rank or 0), spec.dtype)
        return tf.zeros_like(self._copy([], [x]).resolve(x))

    def _differentiate(
        self, given: Sequence[tuple[tf.Tensor, Parts]], xs: Sequence[tf.Tensor]
    ) -> list[Any]:
        """Returns the gradients by `xs`, tensors of the prologue, of what is given."""
        values = list({id(tensor): tensor for tensor, _ in given}.values())
        copy = self._copy(xs, values)
        total: dict[int, tf.Tensor] = {}
        for tensor, parts in given:
            gradient = _dense_gradient(parts, copy.resolve(tensor))
            known = total.get(id(tensor))
            total[id(tensor)] = gradient if known is None else known + gradient
        return tf_compat.gradients_between(
            [copy.resolve(tensor) for tensor in values],
            [copy.resolve(x) for x in xs],
            [total[id(tensor)] for tensor in values],
            tf_compat.default_graph(),
        )

    def _copy(self, xs: Sequence[tf.Tensor], wanted: Sequence[tf.Tensor]) -> GraphCopy:
        """Computes values of the prologue from `xs`, and these from captures."""
        source, graph = self._prologue.graph, tf_compat.default_graph()
        outside = _Captures({i: self._captures[k] for i, k in self._inputs.items()})
        before = GraphCopy(source, graph, outside=outside)
        before.copy_needed(xs)
        copy = GraphCopy(source, graph, outside=outside)
        for x in xs:
            copy.bind(x, _end_of_gradients(before.resolve(x)))
        copy.copy_needed(wanted)
        return copy


def is_trainable_or_handle(tensor: tf.Tensor) -> bool:
    """Says whether a tensor, or the variable behind it, has a gradient."""
    return is_trainable(tensor.dtype) or tensor.dtype == tf.resource


class _Captures(Outside):
    """What the inputs of the prologue are, by their ids."""

    def __init__(self, captures: Mapping[int, tf.Tensor]) -> None:
        self._captures = captures

    def is_leaf(self, tensor: tf.Tensor) -> bool:
        """Says whether a tensor is an input."""
        return id(tensor) in self._captures

    def add_leaf(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the capture, where gradients end."""
        return _end_of_gradients(self._captures[id(tensor)])


def _end_of_gradients(value: tf.Tensor) -> tf.Tensor:
    """Returns a tensor of its own, by which there is a gradient of what uses it."""
    found = tf.identity(value)
    tf_compat.copy_handle_data(value, found)
    return found


def _dense_gradient(parts: Parts, like: tf.Tensor) -> tf.Tensor:
    """Returns the gradient of a value that was looked up in, or used in another way."""
    if len(parts) == 1:
        return parts[0]
    return tf.convert_to_tensor(slices_of(like, *parts))
