"""Tracebacks of errors show the user's lines, as those of TensorFlow and Keras do."""

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError, UnknownOutputsError

Function = TypeVar("Function", bound=Callable[..., Any])


def called_by_users(function: Function) -> Function:
    """Makes a function raise SubGraphErrors without frames of libraries.

    AutoGraph does not convert it. Both are one wrapper, which takes the place of that
    of `do_not_convert`: Python's stack has it once for each call of a recursion that
    runs as plain Python.

    After `tf.debugging.disable_traceback_filtering()` all frames are there.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with tf_compat.without_autograph():
                return function(*args, **kwargs)
        except UnknownOutputsError:
            raise  # Often caught soon: a branch is traced on trial.
        except SubGraphError as error:
            if not tf.debugging.is_traceback_filtering_enabled():
                raise
            raise error.with_traceback(_of_user(error.__traceback__)) from (
                error.__cause__
            )

    return tf_compat.mark_as_converted(call)  # type: ignore[return-value]


def _of_user(traceback: TracebackType | None) -> TracebackType | None:
    """Returns a traceback without what this library, TensorFlow and AutoGraph wrote."""
    frames = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if tf_compat.is_of_user(file) and not tf_compat.is_generated(file):
            frames.append(traceback)
        traceback = traceback.tb_next
    kept = None
    for one in reversed(frames):
        kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return kept
