"""What a decorated function returns, as far as that is known."""

import dataclasses
from typing import Any, NoReturn

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.subgraphs.decorator.pattern import is_same_structure
from recursive_tf.python.tracing.specs import (
    as_declared,
    as_output,
    format_structure,
    is_composite,
    source_line,
    spec_of,
)


@dataclasses.dataclass(frozen=True)
class Outputs:
    """The specs that calls of a SubGraph assume of what it returns.

    Attributes:
        name: Of the SubGraph, for errors.
        specs: A structure of specs, or None if nothing is known.
        are_declared: An annotation says so: a body that returns something else is
            wrong, and not a reason to assume something more general.
    """

    name: str
    specs: Any = None
    are_declared: bool = False

    def convert(self, result: Any) -> Any:
        """Returns what a body returned, each leaf a tensor or composite.

        Raises:
            SubGraphError: If one cannot be.
        """
        if self.are_declared and is_same_structure(self.specs, result):
            return tf.nest.map_structure(self._as_declared, self.specs, result)
        return tf.nest.map_structure(self._as_tensor, result)

    def joined(self, result: Any) -> "Outputs":
        """Returns the most special outputs that also fit what a body returned.

        Raises:
            SubGraphError: If there are none, or if other ones were declared.
        """
        observed = tf.nest.map_structure(spec_of, result)
        if self.specs is None:
            return dataclasses.replace(self, specs=observed)
        specs = self._join(observed)
        if specs is None or (self.are_declared and specs != self.specs):
            self._raise_contradiction(observed)
        return dataclasses.replace(self, specs=specs)

    def _join(self, observed: Any) -> Any:
        """Returns what is common to the specs and others, or None if nothing is."""
        if not is_same_structure(self.specs, observed):
            return None
        joined = tf.nest.map_structure(
            lambda mine, its: mine.most_specific_common_supertype([its]),
            self.specs,
            observed,
        )
        return None if None in tf.nest.flatten(joined) else joined

    def _raise_contradiction(self, observed: Any) -> NoReturn:
        returns = f"SubGraph '{self.name}' returns {format_structure(observed)}, but "
        if self.are_declared:
            raise SubGraphError(
                f"{returns}its annotation says {format_structure(self.specs)}. Change "
                f"the body, or annotate\n    -> {source_line(observed)}"
            )
        raise SubGraphError(
            f"{returns}its base case returns {format_structure(self.specs)}. Return "
            "the same structure and dtypes on every way through the body."
        )

    def _as_tensor(self, leaf: Any, dtype: tf.DType | None = None) -> Any:
        is_nothing = leaf is None and dtype is None
        if is_nothing or is_composite(leaf) or isinstance(leaf, tf.Tensor):
            return leaf
        try:
            return as_output(leaf if dtype is None else tf.constant(leaf, dtype))
        except (TypeError, ValueError) as error:
            hint = " Does each path through its body end in `return`?"
            raise SubGraphError(
                f"SubGraph '{self.name}' returns {leaf!r}, which is not a tensor: "
                f"{error}{hint if leaf is None else ''}"
            ) from error

    def _as_declared(self, spec: tf.TypeSpec, leaf: Any) -> Any:
        if not isinstance(spec, tf.TensorSpec) or is_composite(leaf):
            return leaf
        leaf = self._as_tensor(leaf, spec.dtype)
        if leaf.dtype == spec.dtype and spec.shape.is_compatible_with(leaf.shape):
            return as_declared(leaf, spec)
        return leaf
