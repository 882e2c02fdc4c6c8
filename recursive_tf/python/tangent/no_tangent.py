"""What stands for a tangent that cannot be computed."""

import dataclasses
from typing import TypeAlias

import tensorflow as tf

from recursive_tf.python import tf_compat


@dataclasses.dataclass(frozen=True)
class NoTangent:
    """Of a value that has a derivative nobody knows. It is an error where it is used.

    Attributes:
        op: Where it begins.
        reason: Why.
    """

    op: tf.Operation
    reason: str

    def refuse(self) -> None:
        """Raises an error that names the op."""
        raise NotImplementedError(
            f"The gradient of a gradient needs the derivative of {self.op.type} "
            f"'{self.op.name}' at {tf_compat.op_traceback(self.op)}: {self.reason}"
        )


# None is zero.
Tangent: TypeAlias = tf.Tensor | NoTangent | None
