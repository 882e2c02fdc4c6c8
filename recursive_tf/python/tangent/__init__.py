"""Tangents: programs that also compute how their values change."""

from recursive_tf.python.tangent.tangent_program import (
    TangentProgram,
    slots_with_tangents,
    with_tangents,
)

__all__ = ["TangentProgram", "slots_with_tangents", "with_tangents"]
