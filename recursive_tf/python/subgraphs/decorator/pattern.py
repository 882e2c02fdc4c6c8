"""What two calls of a decorated function share if one SubGraph serves both."""

import dataclasses
from typing import Any, TypeAlias

import tensorflow as tf

from recursive_tf.python.subgraphs.decorator.static_value import StaticValue

Key: TypeAlias = tf.TypeSpec | StaticValue


@dataclasses.dataclass(frozen=True, eq=False)
class Pattern:
    """The arguments of a call, as far as a trace depends on them.

    Attributes:
        structure: A list of the values of all parameters, in which None stands for
            each leaf.
        keys: Of the leaves: the spec of a tensor or composite, or the Python value.
    """

    structure: list[Any]
    keys: list[Key]

    @property
    def specs(self) -> list[tf.TypeSpec]:
        """The specs of what is passed when it runs."""
        return [key for key in self.keys if isinstance(key, tf.TypeSpec)]

    @property
    def static_values(self) -> list[StaticValue]:
        """The Python values."""
        return [key for key in self.keys if isinstance(key, StaticValue)]

    def fits(self, call: "Pattern") -> bool:
        """Says whether what is traced for this one can be called with `call`."""
        return self._agrees(call, _covers)

    def equals(self, call: "Pattern") -> bool:
        """Says whether nothing is more general in one of them."""
        return self._agrees(call, lambda mine, its: bool(mine == its))

    def is_kin_of(self, call: "Pattern") -> bool:
        """Says whether they differ at most in the sizes of dimensions."""
        return self._agrees(call, _are_kin)

    def joined(self, call: "Pattern") -> "Pattern":
        """Returns the most special pattern that fits both, which are kin."""
        pairs = zip(self.keys, call.keys, strict=True)
        keys = [
            mine
            if isinstance(mine, StaticValue)
            else mine.most_specific_common_supertype([its])
            for mine, its in pairs
        ]
        return Pattern(self.structure, keys)

    def _agrees(self, call: "Pattern", agree: Any) -> bool:
        if len(self.keys) != len(call.keys):
            return False
        for mine, its in zip(self.keys, call.keys, strict=True):
            if isinstance(mine, StaticValue) or isinstance(its, StaticValue):
                if mine != its:
                    return False
            elif not agree(mine, its):
                return False
        return is_same_structure(self.structure, call.structure)


def _covers(general: tf.TypeSpec, special: tf.TypeSpec) -> bool:
    return bool(special.is_subtype_of(general))


def _are_kin(left: tf.TypeSpec, right: tf.TypeSpec) -> bool:
    if left.most_specific_common_supertype([right]) is None:
        return False
    shapes = (getattr(spec, "shape", None) for spec in (left, right))
    ranks = [None if shape is None else shape.rank for shape in shapes]
    return bool(ranks[0] == ranks[1])


def is_same_structure(left: Any, right: Any) -> bool:
    """Says whether two structures differ only in their leaves."""
    try:
        tf.nest.assert_same_structure(left, right)
    except (TypeError, ValueError):
        return False
    return True
