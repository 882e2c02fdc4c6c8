"""What a conditional gives while it is not known yet what a SubGraph returns.

The base case of a recursion stands in a branch that does not call. So, in the pass
that finds out what a SubGraph returns, a call to it raises, and a conditional of
which one branch raises is its other branch.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import UnknownOutputsError

_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


class NotKnownYetError(UnknownOutputsError):
    """A call of a SubGraph in the pass that finds out what it returns."""


class _KnownBranch(tf_compat.GlobalOpDispatcher):
    """Is asked by TensorFlow's functions when they raise."""

    def handle(
        self, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Returns what the branch that does not raise returns, if `op` has one."""
        if isinstance(sys.exc_info()[1], NotKnownYetError):
            for branch in _branches(op, args, kwargs):
                try:
                    return tf.nest.map_structure(_as_from_a_branch, branch())
                except NotKnownYetError:
                    continue
        return self.NOT_SUPPORTED


def _branches(
    op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Callable[[], Any]]:
    signature = inspect.signature(op)
    if "true_fn" in signature.parameters:
        arguments = signature.bind(*args, **kwargs).arguments
        for name in ("true_fn", "false_fn"):
            if callable(arguments.get(name)):
                yield arguments[name]


def _as_from_a_branch(value: Any) -> Any:
    """Returns a tensor for a number, as a conditional does."""
    return tf.convert_to_tensor(value) if isinstance(value, _PLAIN) else value


def register() -> None:
    """Makes TensorFlow's conditionals ask."""
    _KnownBranch().register()
