"""Rules of sums of segments: the segments of all rows are segments of one sum.

Which one is offset by row. So it is checked before: no row may add to another's.
"""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import varying
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock

# Of a sparse sum's inputs, the number of segments, if it takes that.
_COUNT = 3


@register_vectorization(
    "UnsortedSegmentMax",
    "UnsortedSegmentMin",
    "UnsortedSegmentProd",
    "UnsortedSegmentSum",
)
def unsorted_segment(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Each row has segments of its own; what is negative is left out."""
    values, segments = inputs[:2]
    shape = op.outputs[0].shape.as_list()
    own = _of_all_rows(block, segments, shape[0], "segment_ids", drops_negative=True)
    count = tf.constant(block.num_rows * shape[0], tf.int64)
    found = getattr(tf.raw_ops, op.type)(
        data=block.all_rows(values), segment_ids=own, num_segments=count
    )
    return [block.reshaped(found, shape)]


@register_vectorization(
    *("SparseSegmentMean", "SparseSegmentMeanWithNumSegments"),
    *("SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments"),
    *("SparseSegmentSum", "SparseSegmentSumWithNumSegments"),
)
def sparse_segment(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The same of rows that are looked up; segments are in order, and stay so."""
    values, indices, segments = inputs[:_COUNT]
    shape = op.outputs[0].shape.as_list()
    if len(inputs) <= _COUNT:
        known = None if segments.is_row else static_value(segments.tensor)
        if known is None:
            raise varying(op.outputs[0])
        shape[0] = int(max(known, default=-1)) + 1
    if values.is_row:
        table = tf.reshape(
            values.tensor, [block.num_rows * values.shape[0], *values.shape[1:]]
        )
        places = _of_all_rows(block, indices, values.shape[0], "indices")
    else:
        table, places = block.tensor(values), block.all_rows(indices)
    own = _of_all_rows(block, segments, shape[0], "segment_ids")
    total = {}
    if len(inputs) > _COUNT:
        total["num_segments"] = tf.constant(block.num_rows * shape[0], tf.int64)
    found = getattr(tf.raw_ops, op.type)(
        data=table,
        indices=tf.reshape(places, [-1]),
        segment_ids=tf.reshape(own, [-1]),
        **total,
    )
    return [tf.reshape(found, [block.num_rows, *shape])]


def _of_all_rows(
    block: VectorizedBlock,
    numbers: Operand,
    size: int,
    what: str,
    *,
    drops_negative: bool = False,
) -> tf.Tensor:
    """Returns numbers below `size` for each row as numbers for all of them, int64."""
    rows = library.recursive_checked_ids(
        ids=block.all_rows(numbers),
        size=size,
        drops_negative=drops_negative,
        what=what,
    )
    first = tf.range(block.num_rows, dtype=tf.int64) * size
    own = rows + tf.reshape(first, [block.num_rows, *[1] * numbers.rank])
    return tf.where(rows < 0, rows, own) if drops_negative else own
