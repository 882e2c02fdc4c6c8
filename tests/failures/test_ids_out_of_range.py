"""Ids that are out of range do what they do in the dataflow executor, by row."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

SIZE = 3
FAR = 2**31 - 1
TABLE = tf.reshape(tf.range(6.0), [SIZE, 2])

# Each takes a row [SIZE, 2] and an id of the row.
OPS = {
    "gather of the row": lambda x, i: tf.gather(x, i),
    "gather of a table": lambda x, i: x[0] + tf.gather(TABLE, i),
    "gather along an axis": lambda x, i: tf.gather(tf.transpose(x), i, axis=1),
    "gather of batches": lambda x, i: tf.gather(
        tf.transpose(x), tf.stack([i, tf.zeros_like(i)]), axis=1, batch_dims=1
    ),
    "gather of batches of a table": lambda x, i: (
        x[0]
        + tf.gather(
            tf.transpose(TABLE),
            tf.stack([i, tf.zeros_like(i)]),
            axis=1,
            batch_dims=1,
        )
    ),
    "gather n-d": lambda x, i: tf.gather_nd(x, [[i]]),
    "gather n-d, second": lambda x, i: tf.gather_nd(
        tf.transpose(x), tf.stack([tf.zeros_like(i), i])[tf.newaxis]
    ),
    "gather n-d of a table": lambda x, i: x[0] + tf.gather_nd(TABLE, [[i]]),
    "an index": lambda x, i: x[i],
    "an index of a table": lambda x, i: x[0] + TABLE[i],
    "a slice": lambda x, i: tf.slice(x, tf.stack([i, tf.zeros_like(i)]), [1, 2]),
    "one hot": lambda x, i: x[0, 0] * tf.one_hot(i, SIZE),
    "one hot, values of the row": lambda x, i: tf.where(
        tf.one_hot(i, SIZE, True, False), x[0, 0], x[1, 1]
    ),
    "scatter": lambda x, i: tf.scatter_nd([[i]], x[:1], [SIZE, 2]),
    "add": lambda x, i: tf.tensor_scatter_nd_add(x, [[i]], x[:1]),
    "update": lambda x, i: tf.tensor_scatter_nd_update(x, [[i]], x[1:2]),
    "maximum": lambda x, i: tf.tensor_scatter_nd_max(x, [[i]], x[1:2]),
    "segments": lambda x, i: tf.math.unsorted_segment_sum(x[0], [i, i], SIZE),
    "largest of segments": lambda x, i: tf.math.unsorted_segment_max(
        x[0], tf.stack([i, tf.zeros_like(i)]), SIZE
    ),
    "smallest of segments": lambda x, i: tf.math.unsorted_segment_min(x, [i] * 3, SIZE),
    "product of segments": lambda x, i: tf.math.unsorted_segment_prod(x, [i] * 3, SIZE),
    "mean of segments": lambda x, i: tf.math.unsorted_segment_mean(x[0], [i, i], SIZE),
    "sparse segments, indices": lambda x, i: tf.ensure_shape(
        tf.sparse.segment_sum(x, tf.cast([i, i], tf.int32), [0, 1]), [2, 2]
    ),
    "sparse segments of a table": lambda x, i: (
        tf.ensure_shape(
            tf.sparse.segment_mean(TABLE, tf.cast([i, i], tf.int32), [0, 1]), [2, 2]
        )
        + x[0]
    ),
    "sparse segments": lambda x, i: tf.sparse.segment_sum(
        x, [0, 1], tf.cast(tf.stack([tf.zeros_like(i), i]), tf.int32), num_segments=SIZE
    ),
    "mean of sparse segments": lambda x, i: tf.sparse.segment_mean(
        x, [0, 1], tf.cast(tf.stack([tf.zeros_like(i), i]), tf.int32), num_segments=SIZE
    ),
    "labels": lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.cast([i, i, i], tf.int32), x
    ),
    "in the largest": lambda x, i: tf.cast(tf.math.in_top_k([i] * 3, x, 1), tf.float32),
}
IDS = {"in range": 1, "below": -1, "the size": SIZE, "far": FAR, "far below": -FAR}


def define(body, dtype, executor):
    with rtf.SubGraph("f", executor=executor) as f:
        x, i = f.input(tf.TensorSpec([SIZE, 2])), f.input(dtype)
        f.output(body(x, i))
    return f


def found(f, ids):
    """Returns values and a gradient, or the type of the error."""
    rows = 1.0 + tf.reshape(tf.range(3.0 * SIZE * 2), [3, SIZE, 2])
    try:
        with tf.GradientTape() as tape:
            tape.watch(rows)
            y = f.map(rows, ids)
            loss = tf.reduce_sum(tf.where(tf.abs(y) < 1e9, y, 0.0) ** 2)
        return y, tape.gradient(loss, rows)
    except tf.errors.OpError as error:
        return type(error)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("body", OPS.values(), ids=OPS)
def test_ids_do_the_same_in_both_executors(body, dtype):
    executors = [define(body, dtype, executor) for executor in ("dataflow", "batched")]
    for which, number in IDS.items():
        one, other = (found(f, tf.constant([0, number, 2], dtype)) for f in executors)
        if isinstance(one, type) or isinstance(other, type):
            assert one is other, which
            continue
        for theirs, ours in zip(one, other, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                np.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg=which)


def test_an_id_out_of_range_names_its_invocation():
    with rtf.SubGraph("f", executor="batched") as f:
        i = f.input(tf.int32)
        f.output(tf.math.unsorted_segment_sum([1.0], [i], 2))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"f\[row 1\]: segment_ids"
    ):
        f.map([0, 2, 5])
