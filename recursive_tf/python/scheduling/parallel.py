"""`rtf.parallel`: any function of TensorFlow on teams of threads."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.scheduling.schedule import Schedule

F = TypeVar("F", bound=Callable[..., Any])


def parallel(function: F, schedule: Schedule) -> F:
    """Returns a function that runs the graphs of another one by a schedule.

    It takes and returns what `function` does, with the same values. Call it eagerly.
    Then everything in it runs by the schedule, also the gradients that it computes.

        step = rtf.parallel(step, rtf.profile(step, batch).schedule)
        step(batch)

    Results may differ by rounding, because an operation may add up in another order on
    another number of threads.

    Args:
        function: A `tf.function`, a function of a SavedModel, or a Python function
            that calls such. Its graphs may have root calls in them.
        schedule: See `rtf.Schedule`. With `rtf.Schedule()` it returns `function`.

    Raises:
        TypeError: If it gets something else than a function and a schedule.
        RuntimeError: When it is called while a `tf.function` is traced, whose graph
            runs by the schedule of whoever calls that one.
        ValueError: When it is called with a schedule that the machine cannot have.
    """
    if not callable(function) or not isinstance(schedule, Schedule):
        raise TypeError(
            "rtf.parallel takes a function and an rtf.Schedule, e.g. rtf.parallel("
            f"step, profile.schedule). Got {function!r} and {schedule!r}."
        )
    if schedule.is_tensorflows:
        return function

    @functools.wraps(function)
    def scheduled(*args: Any, **kwargs: Any) -> Any:
        if not tf.executing_eagerly():
            raise RuntimeError(
                "A function of rtf.parallel was called while a tf.function is traced, "
                "where it would have no effect. Put rtf.parallel around the "
                "tf.function that is called eagerly."
            )
        with tf.experimental.function_executor_type(executor_type(schedule)):
            return function(*args, **kwargs)

    return scheduled  # type: ignore[return-value]


@functools.cache
def executor_type(schedule: Schedule) -> str:
    """Makes TensorFlow know a schedule; returns what it calls the executor of it."""
    with tf.init_scope(), tf.device("CPU:0"):
        name = library.recursive_team_executor(schedule=schedule.attribute())
    return str(name.numpy().decode())
