"""Several ops as one, where TensorFlow would run one by one."""

import functools
from collections.abc import Callable
from typing import TypeVar

import tensorflow as tf

Result = TypeVar("Result")


def fused(function: Callable[..., Result]) -> Callable[..., Result]:
    """Returns a function that is traced once, and then run at once when called eagerly.

    An op that is called eagerly costs as much as ten in a graph, and batches are taken
    apart and put together by a dozen ops.

    Args:
        function: Of tensors and forests, of one rank each: what it is traced for is
            made more general when it is called with other shapes.
    """
    traced = tf.function(function, autograph=False, reduce_retracing=True)

    @functools.wraps(function)
    def call(*args: object) -> Result:
        if not tf.executing_eagerly():
            return function(*args)
        result: Result = traced(*args)
        return result

    return call
