"""Where ops come from: what they copy, and the line of user code."""

import os
import pathlib
import sys
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import importer
from tensorflow.python.ops import cond_v2

# The code of the functions that trace the branches of a conditional. Their frames'
# locals hold the branch functions, and the graphs of those traced so far.
CONDITIONAL_CODE = frozenset((cond_v2.cond_v2.__code__, cond_v2.indexed_case.__code__))
_NOT_USER_CODE = (
    f"{pathlib.Path(tf.__file__).parent}{os.sep}",
    f"{pathlib.Path(tf.__file__).parents[1] / 'keras'}{os.sep}",
    f"{pathlib.Path(__file__).parents[2]}{os.sep}",
    "<string>",  # Generated functions that add ops.
)
_CONDITIONAL_FRAMES = frozenset((c.co_filename, c.co_name) for c in CONDITIONAL_CODE)
# What AutoGraph calls the branches of an `if` statement, and Python a lambda.
_NO_NAMES = frozenset(("<lambda>", "else_body", "if_body"))


def set_origin(op: tf.Operation, source: tf.Operation) -> None:
    """Says that `op` is a copy of `source`, whose place in user code it then has."""
    op._recursive_origin = origin_of(source)


def origin_of(op: tf.Operation) -> tf.Operation:
    """Returns what `op` is a copy of, or `op`."""
    origin: tf.Operation = getattr(op, "_recursive_origin", op)
    return origin


def is_copy(op: tf.Operation) -> bool:
    """Says whether `op` is a copy of what was traced."""
    return origin_of(op) is not op


def op_traceback(op: tf.Operation) -> str:
    """Returns the line of user code that made `op`, e.g. "model.py:12"."""
    frames = frames_of(op)
    if not frames:
        return "an unknown place"
    users = [f for f in frames if _is_users(f)]
    return _place((users or frames)[-1])


def is_of_user(filename: str) -> bool:
    """Says whether a file is none of TensorFlow's, of Keras's or of this library."""
    return not filename.startswith(_NOT_USER_CODE)


def place_of_caller() -> str:
    """Returns the line of user code that is running, e.g. "model.py:12"."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_NOT_USER_CODE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def place_in_user_code(op: tf.Operation) -> str | None:
    """Returns the same for an op that is a copy of one that a user's line made."""
    if not is_copy(op):
        return None
    users = [f for f in frames_of(op) if _is_users(f)]
    return _place(users[-1]) if users else None


def branch_function_name(op: tf.Operation) -> str | None:
    """Returns the name of the function that was traced as the branch `op` is in."""
    frames = [f for f in frames_of(op) if _is_users(f) or _is_conditional(f)]
    for i in reversed(range(len(frames) - 1)):
        if _is_conditional(frames[i]) and _is_users(frames[i + 1]):
            name = str(frames[i + 1].name)
            # To AutoGraph a lambda is a part of the function around it.
            around = {frame.name for frame in frames[:i]}
            return None if name in _NO_NAMES | around else name
    return None


def _is_conditional(frame: Any) -> bool:
    return (frame.filename, frame.name) in _CONDITIONAL_FRAMES


def frames_of(op: tf.Operation) -> list[Any]:
    """Returns the frames in which an op was made; none if it was loaded from a file."""
    frames = list(origin_of(op).traceback or ())
    return [] if any(f.filename == importer.__file__ for f in frames) else frames


def _is_users(frame: Any) -> bool:
    return not frame.filename.startswith(_NOT_USER_CODE)


def _place(frame: Any) -> str:
    return f"{frame.filename}:{frame.lineno}"
