"""Which inputs of a root op have a gradient that nobody can ask for.

A tape knows what it watches, and what follows from that. A root call of fixed word
vectors, of images, or of layers that are frozen then leaves out what only their
gradients need. What is kept of the forward pass stays the same, because another tape
may watch more.
"""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from recursive_tf.python.program.trainable import is_trainable


@dataclasses.dataclass(frozen=True)
class Unneeded:
    """Inputs whose gradients are left out.

    Attributes:
        arguments: Which arguments of the first procedure, by number.
        captures: Which captures of the program, by number.
    """

    arguments: frozenset[int] = frozenset()
    captures: frozenset[int] = frozenset()


NOTHING = Unneeded()


def unneeded_of(op: tf.Operation) -> Unneeded:
    """Returns what a gradient function may leave out.

    Args:
        op: What the function is called with. That is a stand-in for the root op under a
            tape, and says what the tape does not follow; the root op itself does not.
    """
    skipped = set(getattr(op, "skip_input_indices", None) or ())
    num_args, num_captures = (len(op.get_attr(name)) for name in ("Targs", "Tcaptures"))

    def skipped_in(first: int, count: int) -> frozenset[int]:
        return frozenset(
            i
            for i in range(count)
            if first + i in skipped and _may_have_gradient(op.inputs[first + i])
        )

    return Unneeded(skipped_in(0, num_args), skipped_in(num_args, num_captures))


def _may_have_gradient(tensor: tf.Tensor) -> bool:
    return is_trainable(tensor.dtype) or tensor.dtype == tf.resource
