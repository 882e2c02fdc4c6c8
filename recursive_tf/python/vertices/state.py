"""The state of a vertex: what it scatters, and its in-neighbors' gathers."""

from typing import Any, NoReturn

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.tracing.specs import (
    as_spec,
    format_structure,
    is_composite,
    is_tensor_spec,
    leaves_like,
    source_line,
    spec_of,
)


class State:
    """What `state=` of a vertex function says.

    Args:
        name: Of the function, for errors.
        declared: A structure of specs, or dtypes, for scalars.

    Attributes:
        specs: The structure, of specs.

    Raises:
        SubGraphError: If it has no tensors, or one of unknown shape.
    """

    def __init__(self, name: str, declared: Any) -> None:
        self._name = name
        self.specs = tf.nest.map_structure(as_spec, declared)
        flat = tf.nest.flatten(self.specs)
        if not flat or not all(map(_has_zeros, flat)):
            raise SubGraphError(
                f"state= of vertex function '{name}' is "
                f"{format_structure(self.specs)}. It consists of tensors of known "
                "shapes, because zeros stand for an in-neighbor that is not there, "
                "e.g. state=(tf.TensorSpec([150]), tf.TensorSpec([150]))."
            )

    def zeros(self) -> Any:
        """Returns the state of a vertex that is not there."""
        return tf.nest.map_structure(lambda s: tf.zeros(s.shape, s.dtype), self.specs)

    def checked(self, value: Any) -> Any:
        """Returns what a vertex scatters, as tensors in the structure of the state.

        Raises:
            SubGraphError: If it does not fit.
        """
        try:
            leaves = leaves_like(self.specs, value)
        except (TypeError, ValueError) as error:
            self._raise_unlike(value, error)
        specs = tf.nest.flatten(self.specs)
        tensors = [self._tensor(*pair) for pair in zip(leaves, specs, strict=True)]
        fits = (
            tensor.dtype == spec.dtype and spec.shape.is_compatible_with(tensor.shape)
            for tensor, spec in zip(tensors, specs, strict=True)
        )
        if not all(fits):
            self._raise_unlike(value)
        tensors = [
            tensor
            if tensor.shape.is_fully_defined()
            else tf.ensure_shape(tensor, spec.shape)
            for tensor, spec in zip(tensors, specs, strict=True)
        ]
        return tf.nest.pack_sequence_as(self.specs, tensors)

    def _tensor(self, leaf: Any, spec: tf.TensorSpec) -> tf.Tensor:
        if isinstance(leaf, tf.Tensor):
            return leaf
        try:
            return tf.convert_to_tensor(leaf, spec.dtype)
        except (TypeError, ValueError) as error:
            self._raise_unlike(leaf, error)

    def _raise_unlike(self, value: Any, cause: Exception | None = None) -> NoReturn:
        scatters = f"Vertex function '{self._name}' scatters"
        says = f"but state= says {format_structure(self.specs)}."
        try:
            found = tf.nest.map_structure(_observed, value)
        except (TypeError, ValueError):
            raise SubGraphError(f"{scatters} {value!r}, {says}") from cause
        raise SubGraphError(
            f"{scatters} {format_structure(found)}, {says} Scatter that, or declare\n"
            f"    state={source_line(found)}"
        ) from cause


def _has_zeros(spec: tf.TypeSpec) -> bool:
    return is_tensor_spec(spec) and spec.shape.is_fully_defined()


def _observed(leaf: Any) -> tf.TypeSpec:
    if leaf is None or is_composite(leaf):
        return spec_of(leaf)
    return spec_of(tf.convert_to_tensor(leaf))
