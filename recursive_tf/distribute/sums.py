"""Sums over replicas: two exchanges between workers, however many tensors there are.

TensorFlow's own is one exchange for all that is dense, and three for each
IndexedSlices: how many rows each worker has, the rows, and their indices. An exchange
with next to nothing in it takes a millisecond or more. Here the numbers of rows go with
what is dense, and the indices of all slices with their rows.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat

# Numbers of rows are sent with gradients, so as floats: exact up to 2^24.
COUNTS = tf.float32
ROWS = tf.TensorShape([None])


def has_replicas() -> bool:
    """Returns whether this is one of several replicas."""
    context = tf.distribute.get_replica_context()
    return context is not None and context.num_replicas_in_sync > 1


def sum_over_replicas(value: Any) -> Any:
    """Returns the sum of what all replicas have of a value.

    >>> int(sum_over_replicas(tf.constant(3)))  # Of the only one.
    3

    Args:
        value: A tensor, `tf.IndexedSlices`, which stay such, or a list of these. A
            replica has less than 2^24 slices of each.
    """
    if not has_replicas():
        return value
    context = tf.distribute.get_replica_context()
    # What was made outside of the replica is on no device of its.
    here = tf.nest.map_structure(tf.identity, value)
    if not tf_compat.can_gather_alike():
        return context.all_reduce(tf.distribute.ReduceOp.SUM, here)
    return tf.nest.pack_sequence_as(value, _sums(tf.nest.flatten(here)))


def _sums(parts: Sequence[Any]) -> list[Any]:
    """Returns the sum of each part."""
    slices = [part for part in parts if isinstance(part, tf.IndexedSlices)]
    dense = [part for part in parts if not isinstance(part, tf.IndexedSlices)]
    if not slices:
        return _dense_sums(dense)
    *sums, counts = _dense_sums([*dense, _counts_here(slices)])
    gathered = iter(gather_slices(slices, tf.cast(counts, tf.int32)))
    summed = iter(sums)
    return [
        next(gathered if isinstance(part, tf.IndexedSlices) else summed)
        for part in parts
    ]


def _dense_sums(parts: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the sum of each tensor; those of a dtype are one exchange."""
    context = tf.distribute.get_replica_context()

    def summed(places: Sequence[int]) -> Any:
        alike = [parts[place] for place in places]
        return context.all_reduce(tf.distribute.ReduceOp.SUM, alike)

    return _by_dtype([part.dtype for part in parts], summed)


def _by_dtype(
    dtypes: Sequence[tf.DType], made: Callable[[Sequence[int]], Sequence[Any]]
) -> list[Any]:
    """Returns what is made of parts, of those of a dtype at once.

    Args:
        dtypes: Of each part.
        made: Given the places of some parts, it returns one thing for each.
    """
    found: list[Any] = [None] * len(dtypes)
    for dtype in dict.fromkeys(dtypes):
        places = [place for place, other in enumerate(dtypes) if other == dtype]
        for place, thing in zip(places, made(places), strict=True):
            found[place] = thing
    return found


def _counts_here(slices: Sequence[tf.IndexedSlices]) -> tf.Tensor:
    """Returns [replicas, slices]: how many rows this replica has, and zeros."""
    context = tf.distribute.get_replica_context()
    rows = tf.stack([tf.shape(part.indices)[0] for part in slices])
    me, replicas = context.replica_id_in_sync_group, context.num_replicas_in_sync
    return tf.one_hot(me, replicas, dtype=COUNTS)[:, None] * tf.cast(rows, COUNTS)


def gather_slices(
    slices: Sequence[tf.IndexedSlices], counts: tf.Tensor
) -> list[tf.IndexedSlices]:
    """Returns the slices of all replicas, side by side: one exchange for each dtype.

    Args:
        slices: What this replica has.
        counts: int32[replicas, slices]: how many rows each replica has of each.
    """

    def gathered(places: Sequence[int]) -> list[tf.IndexedSlices]:
        alike = [slices[place] for place in places]
        return _gather_alike(alike, tf.gather(counts, places, axis=1))

    return _by_dtype([part.values.dtype for part in slices], gathered)


def _gather_alike(
    slices: Sequence[tf.IndexedSlices], counts: tf.Tensor
) -> list[tf.IndexedSlices]:
    """As `gather_slices`, of one dtype.

    A replica sends a vector: of each of its slices the rows, and then their indices. It
    has room for what the replica with the most sends.
    """
    parts = [part for one in slices for part in (one.values, _as_values(one))]
    widths = [_width(part) for part in parts]
    sizes = tf.repeat(counts, 2, axis=1) * tf.stack(widths)  # [replicas, parts]
    lengths = tf.reduce_sum(sizes, 1)
    room = tf.maximum(tf.reduce_max(lengths), 1)  # Nothing at all is never sent.
    flat = [tf.reshape(part, [-1]) for part in parts]
    missing = room - tf.add_n([tf.size(part) for part in flat])
    vector = tf.concat([*flat, tf.zeros([missing], flat[0].dtype)], 0)
    vectors = tf_compat.gather_alike(vector)

    replicas = tf.distribute.get_replica_context().num_replicas_in_sync
    starts = tf.cumsum(sizes, 1, exclusive=True) + room * tf.range(replicas)[:, None]
    ends = starts + sizes

    def of_all(number: int) -> tf.Tensor:
        spans = [(starts[i, number], ends[i, number]) for i in range(replicas)]
        found = tf.concat([vectors[start:end] for start, end in spans], 0)
        return tf.reshape(found, tf.concat([[-1], tf.shape(parts[number])[1:]], 0))

    return [
        tf.IndexedSlices(
            tf.ensure_shape(of_all(2 * i), ROWS.concatenate(one.values.shape[1:])),
            _as_indices(of_all(2 * i + 1), one.indices.dtype),
            one.dense_shape,
        )
        for i, one in enumerate(slices)
    ]


def _width(part: tf.Tensor) -> tf.Tensor:
    """Returns how many numbers a row has."""
    return tf.reduce_prod(tf.shape(part)[1:])


def _as_values(slices: tf.IndexedSlices) -> tf.Tensor:
    """Returns the bits of indices as numbers of the type of values: [rows, some]."""
    bits = tf.bitcast(tf.cast(slices.indices, tf.int64), slices.values.dtype)
    return tf.reshape(bits, [tf.size(slices.indices), _of_index(bits.dtype)])


def _as_indices(bits: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Returns the indices of which `_as_values` made the bits."""
    indices = tf.bitcast(bits, tf.int64)
    return tf.cast(tf.reshape(indices, [-1]), dtype)


def _of_index(dtype: tf.DType) -> int:
    """Returns how many numbers of a type an index is."""
    return int(tf.int64.size // dtype.size)
