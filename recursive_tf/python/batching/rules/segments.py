"""Rules of sums of segments: the segments of all rows are segments of one sum.

Which one is offset by row. So it is checked before: no row may add to another's.
"""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.rules.table import register_vectorization
from recursive_tf.python.batching.vectorised_block import VectorisedBlock

# The inputs of sparse sums, which add up rows that they look up.
_VALUES, _INDICES, _SEGMENTS, _COUNT = range(4)


@register_vectorization(
    "UnsortedSegmentMax",
    "UnsortedSegmentMin",
    "UnsortedSegmentProd",
    "UnsortedSegmentSum",
)
def unsorted_segment(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Each row has segments of its own; what is negative is left out."""
    values, segments = inputs[:2]
    shape = op.outputs[0].shape.as_list()
    own = _of_all_rows(block, segments, shape[0], "segment_ids", drops_negative=True)
    count = tf.constant(block.num_rows * shape[0], tf.int64)
    return [
        block.reshaped(rows, shape)
        for rows in block.add_like(op, [block.all_rows(values), own, count])
    ]


@register_vectorization(
    *("SparseSegmentMean", "SparseSegmentMeanWithNumSegments"),
    *("SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments"),
    *("SparseSegmentSum", "SparseSegmentSumWithNumSegments"),
)
def sparse_segment(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The same of rows that are looked up; segments are in order, and stay so."""
    values, indices, segments = inputs[:_COUNT]
    shape = op.outputs[0].shape.as_list()
    if len(inputs) <= _COUNT and segments.is_row:
        raise CannotBatchError(
            op,
            "how many segments it has may differ between activations. Give it "
            "num_segments, or use the dataflow executor.",
        )
    if values.is_row:
        table = tf.reshape(
            values.tensor, [block.num_rows * values.shape[0], *values.shape[1:]]
        )
        places = _of_all_rows(block, indices, values.shape[0], "indices")
    else:
        table, places = block.tensor(values), block.all_rows(indices)
    own = _of_all_rows(block, segments, shape[0], "segment_ids")
    count = [tf.constant(block.num_rows * shape[0], tf.int64)][: len(inputs) - _COUNT]
    flat = [tf.reshape(numbers, [-1]) for numbers in (places, own)]
    (found,) = block.add_like(op, [table, *flat, *count])
    return [tf.reshape(found, [block.num_rows, *shape])]


def _of_all_rows(
    block: VectorisedBlock,
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
