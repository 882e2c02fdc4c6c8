"""What cannot be batched is refused: which op, where, why, and what to do."""

import pytest
import tensorflow as tf

from recursive_tf.python.batching.refusal import CannotBatchError
from tests.batching.interpreter import compilation_of
from tests.batching.rows import (
    IMAGE,
    INDEX,
    INDICES,
    SQUARE,
    TEXT,
    VECTOR,
    define_body,
)

VARIABLE = tf.Variable(tf.ones([3]))
OF_ANY_SIZE = tf.Variable(tf.ones([3]), shape=[None])
NORMALIZATION = tf.keras.layers.BatchNormalization()
NORMALIZATION.build([None, 3])
EFFECT = "has an effect for each activation. Take it out of the SubGraph"
SHAPE = "its shape, .*, may differ between activations. Say what it is"
SHARED = "may differ between activations. Take it from outside of the SubGraph"
DATAFLOW = "or use the dataflow executor"


def assigned(x):
    VARIABLE.assign_add(x)
    return x


def assigned_in_a_loop(x, loops=1):
    """Assigns in loops that take nothing of an activation."""

    def turn(i, y):
        if loops > 1:
            return i + 1, assigned_in_a_loop(y, loops - 1)
        VARIABLE.assign_add(tf.ones([3]))
        return i + 1, y + 1.0

    return x + tf.while_loop(lambda i, _: i < 2, turn, (0, 0.0))[1]


def in_a_loop(function):
    return lambda x: tf.while_loop(
        lambda i, _: i < 2, lambda i, y: (i + 1, function(y)), (0, x)
    )[1]


REFUSED = {
    "random numbers of a kind": (
        lambda x: x + tf.random.gamma([3], 2.0),
        *("StatelessRandomGammaV3", "may differ in its seed", VECTOR),
    ),
    "averages": (
        lambda x: NORMALIZATION(x[tf.newaxis], training=True)[0],
        *("AssignVariableOp", "Use LayerNormalization, or training=False", VECTOR),
    ),
    "an assignment": (assigned, "AssignAddVariableOp", EFFECT, VECTOR),
    "an assignment in a loop": (
        assigned_in_a_loop,
        *("AssignAddVariableOp", EFFECT, VECTOR),
    ),
    "an assignment in a loop in a loop": (
        lambda x: assigned_in_a_loop(x, 2),
        *("AssignAddVariableOp", EFFECT, VECTOR),
    ),
    "a Python function": (
        lambda x: tf.ensure_shape(tf.py_function(abs, [x], tf.float32), [3]),
        *("EagerPyFunc", EFFECT, VECTOR),
    ),
    "a NumPy function": (
        lambda x: tf.ensure_shape(tf.numpy_function(abs, [x], tf.float32), [3]),
        *("PyFunc", EFFECT, VECTOR),
    ),
    "a seed of the row": (
        lambda n: tf.random.stateless_binomial([3], n, 5.0, 0.5),
        *("StatelessRandomBinomial", "may differ in its seed", INDICES),
    ),
    "a range of floats": (
        lambda n: tf.reduce_sum(tf.range(tf.cast(n, tf.float32))),
        *("Range", SHAPE, INDEX),
    ),
    "places in a matrix": (
        lambda m: tf.shape(tf.where(m > 0.0)),
        *("Where", SHAPE, SQUARE),
    ),
    "unique values": (
        lambda x: tf.reduce_sum(tf.unique(x)[0]),
        *("Unique", SHAPE, VECTOR),
    ),
    "a list in another order": (
        lambda n: tf.reduce_sum(tf.reverse(tf.range(n), [0])),
        *("ReverseV2", "not known how to do it item by item", INDEX),
    ),
    "lists of two lengths": (
        lambda n: tf.reduce_sum(tf.range(n) + tf.range(n + 0)),
        *("AddV2", "whether the lists that it takes have as many items", INDEX),
    ),
    "a list that is returned": (lambda n: tf.range(n), "Range", SHAPE, INDEX),
    "a partition": (
        lambda x: tf.reduce_sum(tf.dynamic_partition(x, [0, 1, 0], 2)[0]),
        *("DynamicPartition", SHAPE, VECTOR),
    ),
    "rows beside a shared one of any size": (
        lambda x: tf.stack([x, OF_ANY_SIZE + 1.0]),
        *("AddV2", SHAPE, VECTOR),
    ),
    "words": (
        lambda s: tf.size(tf.strings.split(s)),
        *("StringSplitV2", SHAPE, TEXT),
    ),
    "an axis of the row": (
        lambda m, n: tf.ensure_shape(tf.reduce_sum(m, n), [3]) * 1.0,
        *("Sum", "its axis is computed. Make it a Python number", SQUARE, INDEX),
    ),
    "a filter of the row": (
        lambda i, k: tf.nn.conv2d(i, k, 1, "SAME"),
        *("Conv2D", f"its input 'filter' {SHARED}", IMAGE, tf.TensorSpec([3, 3, 2, 2])),
    ),
    "a padding of the row": (
        lambda m, v: tf.pad(m, [[1, 0], [0, 2]], constant_values=v),
        *("PadV2", f"its input 'constant_values' {SHARED}", SQUARE, tf.TensorSpec([])),
    ),
    "no rule": (
        lambda n: tf.math.invert_permutation(n),
        *("InvertPermutation", "no rule for it. Give one with rtf.", INDICES),
    ),
    "TensorFlow's converter fails": (
        lambda n: (
            tf.cast(
                tf.raw_ops.LowerBound(sorted_inputs=[[1, 2]], values=n[tf.newaxis]),
                tf.int32,
            )
            + tf.raw_ops.SparseSegmentSum(data=[1, 2, 3], indices=n, segment_ids=n)[:2]
        ),
        *("SparseSegmentSum", SHAPE, INDICES),
    ),
    "an effect in a loop": (
        in_a_loop(assigned),
        *("AssignAddVariableOp", EFFECT, VECTOR),
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_batched_is_refused_with_its_line(case):
    body, op_type, why, *specs = case
    subgraph = define_body(body, *specs)
    with pytest.raises(CannotBatchError, match=why) as refused:
        compilation_of(subgraph)
    assert "test_rules_refused.py:" in refused.value.place
    assert op_type in str(refused.value).partition(" ")[0]
