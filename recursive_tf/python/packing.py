"""Many arrays as one, which is one argument of a call."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library


def pack(value: Any) -> tf.Tensor:
    """Returns a forest, or any structure of tensors, as one vector of bytes.

    TensorFlow looks at each tensor that a function is called with. That takes some 12
    microseconds each, and a small tree is computed in a few hundred. A packed batch is
    one tensor, and `unpack` gives its arrays back, where they stand. Pack batches in
    the dataset: `dataset.map(rtf.pack)`.

    The bytes are as they are in the memory of this machine. To save forests, use
    `tf.data.Dataset.save`.

    >>> import recursive_tf as rtf
    >>> forest = rtf.data.from_nested([["a", "b"], ["b", ["c", "a"]]])
    >>> forest = forest.replace(tokens=tf.strings.length(forest.tokens))
    >>> spec = tf.type_spec_from_value(forest)
    >>> @tf.function
    ... def count_nodes(packed):
    ...     return rtf.unpack(packed, spec).num_nodes
    >>> count_nodes = count_nodes.get_concrete_function(tf.TensorSpec([None], tf.uint8))
    >>> int(count_nodes(rtf.pack(forest)))
    8

    Args:
        value: A `Forest`, a tensor or an array, or a structure of them as `tf.nest`
            knows it. They are of numbers or booleans; encode strings first.

    Returns:
        uint8[bytes], a multiple of 64, so that several stand well one behind the
        other. It has no gradient.

    Raises:
        ValueError: If there is nothing to pack.
        tf.errors.InvalidArgumentError: If there are strings, or elements of another
            dtype without a fixed size.
    """
    parts = tf.nest.flatten(value, expand_composites=True)
    _check_some(parts)
    return library.recursive_pack(parts)


def unpack(packed: Any, spec: Any) -> Any:
    """Returns what was packed. Its arrays stand in the memory of `packed`.

    Args:
        packed: uint8[bytes], as `pack` returned it.
        spec: The spec of the value: `tf.type_spec_from_value` of a forest, a
            `forest_spec`, or a structure of `tf.TensorSpec`.

    Returns:
        A value of the spec.

    Raises:
        ValueError: If the spec has no tensors.
        tf.errors.InvalidArgumentError: If `packed` was made of something else. The
            error says which array is of another dtype or shape.
    """
    specs = tf.nest.flatten(spec, expand_composites=True)
    _check_some(specs)
    parts = library.recursive_unpack(
        packed,
        T=[part.dtype for part in specs],
        shapes=[part.shape for part in specs],
        names=[part.name or f"array {i}" for i, part in enumerate(specs)],
    )
    return tf.nest.pack_sequence_as(spec, parts, expand_composites=True)


def _check_some(parts: Sequence[Any]) -> None:
    if not parts:
        raise ValueError("There is no tensor in the structure. Pack one at least.")
