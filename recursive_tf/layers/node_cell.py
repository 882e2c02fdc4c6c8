"""What a node computes: a cell, with what it may leave out filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.losses import refused_losses
from recursive_tf.python.subgraphs.subgraph import SubGraph

LEAVES, NODES = "leaves", "nodes"
PAIR = 2


class NodeCell:
    """A user's cell as the recursion sees it, for one node.

    A cell is a Keras layer with two methods: `leaf(x)` returns the state of a leaf, and
    `call(children, x)` that of a node over others. It may say with attributes
    `num_children` (2), `may_miss_children` (False) and `inputs_at` ("leaves"), and with
    a method `output_of(state)`, which returns a tensor
    or a structure of them; in brackets, what holds if it does not.

    Attributes:
        layer: The cell.
        num_children: How many children a node has; None: any number.
        may_miss_children: Whether some of that many may be missing; their states are
            zeros.
        takes_x_inside: Whether `call` gets an x; else it gets None.
        has_own_output: Whether the cell says what a state shows to the outside.
    """

    def __init__(self, layer: Any) -> None:
        if not isinstance(layer, keras.layers.Layer) or not hasattr(layer, "leaf"):
            raise TypeError(
                "A cell is a Keras layer with methods leaf(x) and call(children, x). "
                f"Got {layer!r}."
            )
        inputs_at = getattr(layer, "inputs_at", LEAVES)
        if inputs_at not in (LEAVES, NODES):
            raise ValueError(
                f"{layer.name}.inputs_at is {inputs_at!r}: choose {LEAVES!r} or "
                f"{NODES!r}."
            )
        self.layer = layer
        self.num_children = getattr(layer, "num_children", PAIR)
        self.may_miss_children = getattr(layer, "may_miss_children", False)
        self.takes_x_inside = inputs_at == NODES
        self.has_own_output = hasattr(layer, "output_of")

    def leaf(self, x: Any) -> Any:
        """Returns the state of a leaf, computed like a `call` of the cell.

        Keras casts arguments and weights for a layer's `call`, and no other method.
        """
        as_layer = keras.layers.Lambda(
            self.layer.leaf, dtype=self.layer.dtype_policy, name=self.layer.name
        )
        with refused_losses(self.layer):
            return as_layer(x)

    def internal(self, children: Any, x: Any) -> Any:
        """Returns the state of a node over others.

        Args:
            children: A tuple of states, or, for any number, a state of lists, [k, ...].
            x: What the node takes, or None.

        Raises:
            ValueError: If the cell adds a loss, here or in a leaf.
        """
        with refused_losses(self.layer):
            return self.layer(children, x)

    def output(self, state: Any) -> Any:
        """Returns what a state shows to the outside: its first tensor by default."""
        if self.has_own_output:
            with refused_losses(self.layer):
                return self.layer.output_of(state)
        return self._first(state)

    def build(self, x: tf.TensorSpec) -> tuple[Any, Any]:
        """Makes the cell's variables, and those of layers in it.

        Args:
            x: What a node takes.

        Returns:
            The specs of a state and of an output.

        Raises:
            ValueError: If `call` returns another state than `leaf`, or if a state is a
                dict and the cell does not say what its output is.
        """
        if not self.layer.built and type(self.layer).build is not _NO_BUILD:
            self.layer.build(tuple(x.shape))
        state = specs_of(self.leaf, x)
        children = self._specs_of_children(state)
        if self.takes_x_inside:
            found = specs_of(self.internal, children, x)
        else:
            found = specs_of(lambda states: self.internal(states, None), children)
        self._check_same(found, state)
        return state, specs_of(self.output, state)

    def _first(self, state: Any) -> tf.Tensor:
        first = state
        while isinstance(first, (tuple, list, Mapping)):
            if isinstance(first, Mapping) and len(first) > 1:
                raise ValueError(
                    f"A state of {self.layer.name} is a dict of {sorted(first)}, which "
                    "has no first tensor. Give the cell a method output_of(state) that "
                    "returns the output."
                )
            first = next(iter(_parts(first)))
        return tf.nest.flatten(first)[0]

    def _specs_of_children(self, state: Any) -> Any:
        if self.num_children is not None:
            return (state,) * self.num_children
        stack = lambda s: tf.TensorSpec([None, *s.shape], s.dtype)  # noqa: E731
        return tf.nest.map_structure(stack, state)

    def _check_same(self, found: Any, state: Any) -> None:
        try:
            tf.nest.assert_same_structure(found, state)
            pairs = zip(tf.nest.flatten(found), tf.nest.flatten(state), strict=True)
            is_same = all(one == other for one, other in pairs)
        except (TypeError, ValueError):
            is_same = False
        if not is_same:
            raise ValueError(
                f"The states of {self.layer.name} differ: leaf(x) returns {state}, but "
                f"call(children, x) {found}. Return the same structure, shapes and "
                "dtypes."
            )


def _parts(state: Any) -> Iterable[Any]:
    return state.values() if isinstance(state, Mapping) else state


_NO_BUILD = keras.layers.Layer.build


def specs_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the specs of what a function returns for arguments of these specs.

    It is traced as a body, in which Keras makes the variables that are missing.
    """
    with SubGraph(getattr(function, "__name__", "function")) as body:
        result = function(*(tf.nest.map_structure(body.input, a) for a in arguments))
        result = tf.nest.map_structure(tf.convert_to_tensor, result)
        specs = tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), result)
        body.output(result)
    return specs
