"""Where ops come from: what they copy, and the line of user code."""

import dataclasses
import os
import pathlib
import sys
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import importer
from tensorflow.python.ops import cond_v2

from recursive_tf.python.tf_compat.graphs import graph_chain

# The code of the functions that trace the branches of a conditional. Their frames'
# locals hold the branch functions, and the graphs of those traced so far.
CONDITIONAL_CODE = frozenset((cond_v2.cond_v2.__code__, cond_v2.indexed_case.__code__))
_TENSORFLOW = f"{pathlib.Path(tf.__file__).parent}{os.sep}"
_NOT_USER_CODE = (
    _TENSORFLOW,
    f"{pathlib.Path(tf.__file__).parents[1] / 'keras'}{os.sep}",
    f"{pathlib.Path(__file__).parents[2]}{os.sep}",
    "<string>",  # Generated functions that add ops.
)
# What stands between a definition and who wrote it: AutoGraph is TensorFlow's.
_OF_DEFINITIONS = (f"{pathlib.Path(__file__).parents[1]}{os.sep}", _TENSORFLOW)
_CONDITIONAL_FRAMES = frozenset((c.co_filename, c.co_name) for c in CONDITIONAL_CODE)
# How many frames TensorFlow's importer is from the op that it adds, at most.
_NEAREST = 8
# What AutoGraph calls the branches of an `if` statement, and Python a lambda.
_NO_NAMES = frozenset(("<lambda>", "else_body", "if_body"))


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """What is known of an op that others are copies of, without the op.

    An op holds its graph, and so all that a body uses. And what TensorFlow gives of its
    stack is gone with the op.

    Attributes:
        name: Of the op.
        type: Of the op.
        place: The line of user code that made it, as `op_traceback` says it.
        users: The same as `place_in_user_code` says it.
        branch: The same as `branch_function_name` says it.
    """

    name: str
    type: str
    place: str
    users: str | None
    branch: str | None


def set_origin(op: tf.Operation, source: tf.Operation) -> None:
    """Says that `op` is a copy of `source`, whose place in user code it then has."""
    op._recursive_origin = origin_of(source)


def origin_of(op: tf.Operation) -> tf.Operation | Origin:
    """Returns what `op` is a copy of, or `op`."""
    origin: tf.Operation | Origin = getattr(op, "_recursive_origin", op)
    return origin


def is_copy(op: tf.Operation) -> bool:
    """Says whether `op` is a copy of what was traced."""
    return origin_of(op) is not op


def forget_origins(graph: tf.Graph, branch: str | None) -> None:
    """Makes the ops of `graph` hold no longer what they are copies of.

    What is said of them stays the same.

    Args:
        graph: The graph.
        branch: What `branch_function_name` says of its ops.
    """
    for op in graph.get_operations():
        origin = origin_of(op)
        if origin is not op and not isinstance(origin, Origin):
            op._recursive_origin = Origin(
                origin.name,
                origin.type,
                op_traceback(op),
                place_in_user_code(op),
                branch,
            )


def op_traceback(op: tf.Operation | Origin) -> str:
    """Returns the line of user code that made `op`, e.g. "model.py:12"."""
    origin = origin_of(op)
    if isinstance(origin, Origin):
        return origin.place
    users = _line_of_user(origin)
    if users is not None:
        return users
    frames = frames_of(origin)
    return _place(frames[-1]) if frames else "an unknown place"


def is_of_user(filename: str) -> bool:
    """Says whether a file is none of TensorFlow's, of Keras's or of this library."""
    return not filename.startswith(_NOT_USER_CODE)


def place_of_caller() -> str:
    """Returns the line of user code that is running, e.g. "model.py:12"."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_NOT_USER_CODE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def remember_line_around(graph: tf.Graph, first: tf.Operation) -> None:
    """Says that `graph` is what a library traces, if it is: then no line is in it.

    That is a body of one of Keras's layers, e.g. The line of the user's that runs is
    around it, and another one each time that it is traced.

    Args:
        graph: The graph, which is about to be traced.
        first: An op that was just added to it.
    """
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_OF_DEFINITIONS):
        frame = frame.f_back
    if not is_of_user(frame.f_code.co_filename):
        graph._recursive_line_around = _line_of_user(first)


def place_in_user_code(op: tf.Operation) -> str | None:
    """Returns the same for an op that is a copy of one that a user's line made.

    That line is in the body, and not around it.
    """
    origin = origin_of(op)
    if isinstance(origin, Origin):
        return origin.users
    users = None if origin is op else _line_of_user(origin)
    return None if users == _line_around(origin.graph) else users


def branch_function_name(op: tf.Operation) -> str | None:
    """Returns the name of the function that was traced as the branch `op` is in."""
    origin = origin_of(op)
    if isinstance(origin, Origin):
        return origin.branch
    frames = [f for f in frames_of(origin) if _is_users(f) or _is_conditional(f)]
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
    """Returns the frames in which an op was made; none if they are not known.

    They are not if it was loaded from a file, or if its origin is forgotten.
    """
    origin = origin_of(op)
    frames = [] if isinstance(origin, Origin) else list(origin.traceback or ())
    return [] if any(map(_is_importers, frames)) else frames


def _line_of_user(op: tf.Operation) -> str | None:
    """Returns the innermost line of the user's where a traced op was made, or None."""
    if not hasattr(op, "_recursive_line"):
        frame = _innermost_of_user(op)
        op._recursive_line = None if frame is None else _place(frame)
    line: str | None = op._recursive_line
    return line


def _innermost_of_user(op: tf.Operation) -> Any:
    """Returns its frame. A stack has hundreds, and to look at one takes a while."""
    stack = op.traceback
    if stack is None:
        return None
    frames = stack.get_user_frames()  # Without TensorFlow's.
    for i in reversed(range(len(frames))):
        frame = frames[i]
        if _is_users(frame):
            return None if _is_loaded(stack) else frame
    return None


def _line_around(graph: tf.Graph) -> str | None:
    """Returns the line of the user's around a body that a library traced, or None."""
    for g in graph_chain(graph):
        if hasattr(g, "_recursive_line_around"):
            line: str = g._recursive_line_around
            return line
    return None


def _is_loaded(stack: Any) -> bool:
    """Says whether what was made there was loaded from a file."""
    innermost = range(max(len(stack) - _NEAREST, 0), len(stack))
    return any(_is_importers(stack[i]) for i in innermost)


def _is_importers(frame: Any) -> bool:
    return bool(frame.filename == importer.__file__)


def _is_users(frame: Any) -> bool:
    return not frame.filename.startswith(_NOT_USER_CODE)


def _place(frame: Any) -> str:
    return f"{frame.filename}:{frame.lineno}"
