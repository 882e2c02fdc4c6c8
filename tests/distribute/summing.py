"""Sums over replicas of tensors and of slices, of all kinds there are."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

# Of each table: how many rows the first replica has, and each one more than the one
# before it; shape of a row, type of values and of indices.
TABLES = [
    (2, 3, [4], "float32", "int32"),
    (0, 5, [2, 3], "float32", "int64"),
    (1, 0, [], "float64", "int64"),
    (3, -1, [5], "float16", "int32"),
]


def parts_of(replica, is_empty=False):
    """Returns what a replica has: tensors, and slices as (values, indices)."""
    rng = np.random.default_rng(replica)
    parts = [np.full([2, 3], replica + 1.0, "float32"), np.ones(3, "int32")]
    for first, more, shape, dtype, index in TABLES:
        rows = 0 if is_empty else first + more * replica
        values = rng.normal(size=[rows, *shape]).astype(dtype)
        parts.append((values, (2**31 - 1 - np.arange(rows)).astype(index)))
    return [*parts, np.full([], 0.5 + replica, "float64")]


def sums(strategy):
    """Returns what the first replica has after each sum, with names of types."""
    return [_sum(strategy, is_empty) for is_empty in (False, True)]


def _sum(strategy, is_empty):
    def of_replica():
        context = tf.distribute.get_replica_context()
        replica = int(tf.get_static_value(context.replica_id_in_sync_group))
        parts = [
            tf.IndexedSlices(*map(tf.constant, part))
            if isinstance(part, tuple)
            else tf.constant(part)
            for part in parts_of(replica, is_empty)
        ]
        return rtf.distribute.sum_over_replicas(parts)

    summed = tf.function(lambda: strategy.run(of_replica), autograph=False)()
    return [_lists(strategy.experimental_local_results(part)[0]) for part in summed]


def _lists(part):
    is_slices = isinstance(part, tf.IndexedSlices)
    tensors = (part.values, part.indices) if is_slices else (part,)
    return [(tensor.dtype.name, tensor.numpy().tolist()) for tensor in tensors]
