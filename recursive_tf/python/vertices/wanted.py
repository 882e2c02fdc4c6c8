"""The vertices whose rows a call returns: `at=`."""

from typing import Any, NoReturn

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.tracing.specs import format_spec, spec_of
from recursive_tf.python.vertices.numbers import checked_vertices


def as_wanted(at: Any, name: str) -> tf.Tensor | None:
    """Returns the numbers of vertices that a call was given, int [num_wanted].

    Args:
        at: What TensorFlow makes a vector of integers of, or None.
        name: Of the vertex function, for errors.

    Raises:
        SubGraphError: If it is something else.
    """
    if at is None:
        return None
    try:
        # An empty list is one of floats to TensorFlow.
        is_empty = isinstance(at, (list, tuple)) and not at
        vertices = tf.convert_to_tensor(at, tf.int32 if is_empty else None)
    except (TypeError, ValueError) as error:
        _raise_no_vertices(f"{at!r:.200}", name, error)
    if not vertices.dtype.is_integer or vertices.shape.rank not in (1, None):
        _raise_no_vertices(format_spec(spec_of(vertices)), name)
    return vertices if vertices.shape.rank else tf.ensure_shape(vertices, [None])


def checked_wanted(at: tf.Tensor, count: tf.Tensor, name: str) -> tf.Tensor:
    """Returns numbers that are of vertices, int32, or fails when it runs.

    Args:
        at: What `as_wanted` returned.
        count: The number of vertices.
        name: Of the vertex function, for errors.
    """
    says = ("Row ", f" of at= of vertex function '{name}' is vertex ")
    return checked_vertices([at], count, says, lowest=0)[0]


def _raise_no_vertices(
    found: str, name: str, cause: Exception | None = None
) -> NoReturn:
    raise SubGraphError(
        f"at= of vertex function '{name}' is {found}. It is a vector of integers, the "
        "numbers of the vertices whose rows the call returns, e.g. at=forest.roots."
    ) from cause
