"""Why a program, or an op of it, cannot be batched."""

import contextlib
from collections.abc import Callable, Iterator

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError

# Where an error keeps that it came of a rule that is not the library's.
_OF_USER = "recursive_of_user"


class CannotBatchError(Exception):
    """The batched executor cannot run a program; the message says why.

    Attributes:
        reason: What stands in the way, and what to do about it.
        place: The line of the user's code that made the op, e.g. "model.py:12".
    """

    def __init__(self, op: tf.Operation, reason: str) -> None:
        self.reason = reason
        self.place = tf_compat.op_traceback(op)
        what = "Input" if op.type == "Placeholder" else op.type
        super().__init__(f"{what} '{op.name}' at {self.place}: {reason}")


class FaultError(CannotBatchError):
    """Something of the library is wrong; the cause is what it raised.

    Args:
        reason: What is wrong, and what to do about it.
        op: Where it was met; None if it is not known.
    """

    def __init__(self, reason: str, op: tf.Operation | None = None) -> None:
        if op is not None:
            super().__init__(op, reason)
            return
        self.reason = reason
        self.place = ""
        Exception.__init__(self, reason)


def refused(what: str, error: CannotBatchError) -> SubGraphError:
    """Returns the error for who chose the batched executor for what it cannot run."""
    found: SubGraphError = SubGraphError(
        f'{what} cannot run in the batched executor: {error} With executor="auto", '
        "programs that cannot be batched run in the dataflow executor."
    )
    return found


def varying(tensor: tf.Tensor) -> CannotBatchError:
    """Returns the refusal of a value whose shape is not known."""
    return CannotBatchError(
        tensor.op,
        f"its shape, {tensor.shape}, may differ between activations. Say what it is, "
        "e.g. with tf.ensure_shape or in the signature, or use the dataflow executor.",
    )


class RuleError(ValueError):
    """A rule of `rtf.register_vectorization` does not return what it should."""

    def __init__(self, op: tf.Operation, expected: str, found: str) -> None:
        place = tf_compat.op_traceback(op)
        super().__init__(
            f"The rule for {op.type}, used for '{op.name}' at {place}, should return "
            f"{expected}, but {found}."
        )


@contextlib.contextmanager
def faults_of(rule: Callable[..., object], op: tf.Operation) -> Iterator[None]:
    """Says whose fault it is if `rule` raises in the context, or what checks it.

    A rule of the library that is wrong refuses the op: its program then runs in the
    dataflow executor, and is right. Who wrote a rule of their own is told.
    """

    def fault(said: str) -> FaultError:
        return FaultError(
            f"its rule is at fault, which should be reported to recursive_tf: {said} "
            "Give another with rtf.register_vectorization, or use the dataflow "
            "executor.",
            op,
        )

    with _refusing(fault):
        try:
            yield
        except CannotBatchError:
            raise
        except Exception as error:
            if not is_of_library(rule):
                setattr(error, _OF_USER, True)
            raise


def faults_of_compiler() -> contextlib.AbstractContextManager[None]:
    """Refuses a program if anything that is unexpected is raised in the context.

    The dataflow executor takes it then, and is right; what is raised is the cause.
    """
    return _refusing(
        lambda said: FaultError(
            f"a fault of recursive_tf: {said} Please report it, with the traceback of "
            "that error and the code of the SubGraph."
        )
    )


@contextlib.contextmanager
def _refusing(fault: Callable[[str], FaultError]) -> Iterator[None]:
    """Raises a fault for what is raised in the context, if that is the library's."""
    try:
        yield
    except CannotBatchError:
        raise
    # Of TensorFlow anything may come where ops are built that cannot be.
    except Exception as error:
        if _is_of_user(error):
            raise
        raise fault(_in_words(error)) from error


def _is_of_user(error: Exception) -> bool:
    """Says whether an error came of a rule that is not the library's."""
    return getattr(error, _OF_USER, False)


def is_of_library(rule: Callable[..., object]) -> bool:
    """Says whether a rule is one of the library's own."""
    return getattr(rule, "__module__", "").startswith(__package__ + ".")


def _in_words(error: Exception) -> str:
    first_line = str(error).partition("\n")[0].rstrip(".")
    kind = type(error).__name__
    return f"{kind}: {first_line}." if first_line else f"{kind}."


class LoopMustWaitError(CannotBatchError):
    """A loop cannot be written out within a block.

    Attributes:
        loop: The While.
    """

    def __init__(self, loop: tf.Operation, reason: str) -> None:
        super().__init__(loop, reason)
        self.loop = loop
