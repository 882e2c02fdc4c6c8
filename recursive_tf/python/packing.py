"""Many arrays as one, which is one argument of a call."""

import functools
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.ops import library

# Where the elements of a part may begin, and where all end: see `RecursivePack`.
_ALIGNMENT = 64


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
    if all(map(_is_of_numbers, parts)):
        return tf.constant(_packed_arrays(parts))
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


def _is_of_numbers(part: Any) -> bool:
    return isinstance(part, np.ndarray) and _number_of(part.dtype) > 0


def _packed_arrays(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Returns what `RecursivePack` does, without a tensor for each array."""
    head = [len(arrays)]
    for array in arrays:
        head += (_number_of(array.dtype), array.ndim, *array.shape)
    size = 8 * len(head)
    pieces = [struct.pack(f"{len(head)}q", *head)]
    for array in arrays:
        gap = -size % _ALIGNMENT
        size += gap + array.nbytes
        pieces += (bytes(gap), array.tobytes())
    pieces.append(bytes(-size % _ALIGNMENT))
    return np.frombuffer(b"".join(pieces), np.uint8)


@functools.cache
def _number_of(dtype: np.dtype) -> int:
    """Returns the number by which TensorFlow's kernels know a dtype; 0 if it is none.

    Other than of numbers as NumPy and this machine have them, it is not looked for.
    """
    if dtype.kind not in "biufc" or not dtype.isnative:
        return 0
    number: int = tf.as_dtype(dtype).as_datatype_enum
    return number
