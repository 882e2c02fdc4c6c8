"""What vertices pull: rows of tensors, one for each vertex."""

from typing import Any, NoReturn

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.tracing.specs import format_spec, spec_of


def as_inputs(inputs: Any, count: int | None, name: str) -> Any:
    """Returns what a call was given as tensors with rows.

    Args:
        inputs: A structure of what TensorFlow makes tensors of, or None.
        count: The number of vertices, if it is known.
        name: Of the vertex function, for errors.

    Raises:
        SubGraphError: If something is no tensor, or has not as many rows.
    """

    def convert(leaf: Any) -> Any:
        rows = leaf if isinstance(leaf, tf.RaggedTensor) else _as_tensor(leaf, name)
        found = rows.shape[0] if rows.shape.rank else None
        if rows.shape.rank == 0:
            _raise_no_rows("a scalar", name)
        if None not in (found, count) and found != count:
            raise SubGraphError(
                f"The inputs of vertex function '{name}' have {found} rows, "
                f"{format_spec(spec_of(rows))}, but the graph has {count} vertices. "
                "There is a row for each vertex, in the order of the graph."
            )
        return rows

    return None if inputs is None else tf.nest.map_structure(convert, inputs)


def checked_inputs(inputs: Any, count: tf.Tensor, name: str) -> Any:
    """Returns what vertices pull, or fails when it runs if rows are missing.

    Args:
        inputs: What `as_inputs` returned.
        count: The number of vertices.
        name: Of the vertex function, for errors.
    """
    known = tf.get_static_value(count)
    message = (
        f"The inputs of vertex function '{name}' have a row for each vertex of the "
        "graph. Got as many rows, and vertices"
    )

    def check(rows: Any) -> Any:
        if None not in (known, rows.shape[0]):
            return rows
        is_ragged = isinstance(rows, tf.RaggedTensor)
        found = tf.cast(rows.nrows() if is_ragged else tf.shape(rows)[0], tf.int32)
        assertion = tf.debugging.assert_equal(found, count, message)
        with tf.control_dependencies([] if assertion is None else [assertion]):
            return tf.nest.map_structure(tf.identity, rows, expand_composites=True)

    return None if inputs is None else tf.nest.map_structure(check, inputs)


def _as_tensor(leaf: Any, name: str) -> tf.Tensor:
    try:
        return tf.convert_to_tensor(leaf)
    except (TypeError, ValueError) as error:
        _raise_no_rows(f"{leaf!r:.200}", name, error)


def _raise_no_rows(found: str, name: str, cause: Exception | None = None) -> NoReturn:
    raise SubGraphError(
        f"The inputs of vertex function '{name}' have {found} in them. They are a "
        "structure of tensors, [num_vertices, ...], of which a vertex pulls its row. A "
        "list is a structure: make a tensor of a list of numbers. Do not pass what all "
        "vertices share: use it in the function."
    ) from cause
