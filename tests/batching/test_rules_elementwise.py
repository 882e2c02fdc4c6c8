"""Ops of one element after the other: of all types, and of any rank."""

import pytest
import tensorflow as tf

from tests.batching.interpreter import types_of
from tests.batching.rows import (
    CUBE,
    FLAG,
    FLAGS,
    INDEX,
    SCALAR,
    SQUARE,
    TEXT,
    TEXTS,
    VECTOR,
    assert_rows_are_alike,
    define_body,
)

CAPTURED = tf.random.stateless_normal([2, 3, 3], [5, 5])
NUMBERS = tf.TensorSpec([3], tf.int32)


def select(condition, x, y):
    return tf.raw_ops.Select(condition=condition, x=x, y=y)


BODIES = {
    "broadcasting": (lambda x, m: m * x + m[:, :1], VECTOR, SQUARE),
    "a captured vector": (lambda x: x + CAPTURED[0, 0], VECTOR),
    "a scalar to a matrix": (lambda n, m: m * tf.cast(n, tf.float32), INDEX, SQUARE),
    "a captured cube and a vector": (lambda x: x * CAPTURED, VECTOR),
    "a captured cube and a scalar": (lambda s: s - CAPTURED, SCALAR),
    "a captured row and a column": (lambda x: x[:, tf.newaxis] / CAPTURED[0], VECTOR),
    "a cube and a vector": (lambda c, x: c * x[:, tf.newaxis], CUBE, VECTOR),
    "a condition": (tf.where, FLAG, VECTOR, VECTOR),
    "a condition and captures": (
        lambda c: tf.where(c, CAPTURED[0], CAPTURED[1]),
        FLAG,
    ),
    "a condition that broadcasts": (lambda c, m: tf.where(c, m, 0.0), FLAGS, SQUARE),
    "a condition that is captured": (
        lambda m: tf.where(CAPTURED[0] > 0.0, m, -m),
        SQUARE,
    ),
    "an older condition": (select, FLAG, VECTOR, VECTOR),
    "an older condition of rows": (
        lambda c, m: select(c, m, -m),
        *(FLAGS, SQUARE),
    ),
    "an older captured condition": (
        lambda m: select(CAPTURED[0, 0] > 0.0, m, -m),
        SQUARE,
    ),
    "clipping": (lambda x, s: tf.clip_by_value(x, s, s + 1.0), VECTOR, SCALAR),
    "clipping by one op": (
        lambda x, s: tf.raw_ops.ClipByValue(
            t=x, clip_value_min=s - 4.0, clip_value_max=s
        ),
        *(VECTOR, SCALAR),
    ),
    "the next number": (tf.math.nextafter, VECTOR, VECTOR),
    "bits": (lambda n: tf.raw_ops.PopulationCount(x=n), NUMBERS),
    "the same bits": (lambda x: tf.bitcast(x, tf.int32), VECTOR),
    "bits of smaller numbers": (lambda x: tf.bitcast(x, tf.uint8), VECTOR),
    "bits of a larger number": (
        lambda x: tf.bitcast(x, tf.float64),
        tf.TensorSpec([3, 2]),
    ),
    "alike in shape": (
        lambda s: tf.math.betainc(1.0, 2.0 * tf.ones([3]), tf.sigmoid(s)),
        VECTOR,
    ),
    "nearly equal": (
        lambda s: tf.raw_ops.ApproximateEqual(x=s, y=tf.constant(0.5), tolerance=1.0),
        SCALAR,
    ),
    "a gradient": (lambda x: tf.gradients(tf.tanh(x), x)[0], VECTOR),
    "buckets": (
        lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[0.0, 1.0]),
        VECTOR,
    ),
    "checked numbers": (lambda x: tf.debugging.check_numerics(x, "bad"), VECTOR),
    "a checked capture": (
        lambda x: x + tf.debugging.check_numerics(CAPTURED[0, 0], "bad"),
        VECTOR,
    ),
    "no gradient": (lambda x: tf.stop_gradient(x) * x, VECTOR),
    "a sum of many": (lambda m: tf.add_n([m, m, CAPTURED[0], CAPTURED[1]]), SQUARE),
    "leaky": (tf.nn.leaky_relu, VECTOR),
    "half": (lambda x: tf.tanh(x) + x, tf.TensorSpec([3], tf.float16)),
    "bfloat": (lambda x: tf.tanh(x) + x, tf.TensorSpec([3], tf.bfloat16)),
    "double": (lambda x: tf.tanh(x) + x, tf.TensorSpec([3], tf.float64)),
    "complex": (lambda z: tf.exp(z) * tf.math.conj(z), tf.TensorSpec([], tf.complex64)),
    "parts": (
        lambda z: tf.math.real(z) + tf.abs(z),
        tf.TensorSpec([3], tf.complex128),
    ),
    "flags": (lambda f: tf.logical_and(f, ~f[::-1]), FLAGS),
    "texts": (lambda s: tf.strings.upper(tf.strings.strip(s)), TEXTS),
    "lengths": (tf.strings.length, TEXTS),
    "hashes": (lambda s: tf.strings.to_hash_bucket_fast(s, 9), TEXTS),
    "strong hashes": (lambda s: tf.strings.to_hash_bucket_strong(s, 9, [1, 2]), TEXTS),
    "replacing": (lambda s: tf.strings.regex_replace(s, "b", "x"), TEXTS),
    "matching": (lambda s: tf.strings.regex_full_match(s, ".*d.*"), TEXTS),
    "parts of texts": (lambda s: tf.strings.substr(s, 0, 1), TEXTS),
    "joined texts": (lambda s, t: tf.strings.join([s, t, "z"], "-"), TEXTS, TEXT),
    "all of a text": (tf.strings.reduce_join, TEXTS),
    "encoded": (tf.io.encode_base64, TEXTS),
    "equal texts": (lambda s, t: tf.equal(s, t), TEXTS, TEXT),
    "texts of numbers": (tf.strings.as_string, NUMBERS),
    "numbers of texts": (
        lambda n: tf.strings.to_number(tf.strings.as_string(n)),
        NUMBERS,
    ),
    "decoded": (lambda s: tf.io.decode_base64(tf.io.encode_base64(s)), TEXTS),
    "hashes of before": (
        lambda s: tf.raw_ops.StringToHashBucket(string_tensor=s, num_buckets=9),
        TEXTS,
    ),
    "scripts": (
        lambda n: tf.strings.unicode_script(n + 65),
        NUMBERS,
    ),
    "quantized": (tf.quantization.fake_quant_with_min_max_args, VECTOR),
    "no element": (lambda x: tf.tanh(x) * 2.0, tf.TensorSpec([2, 0])),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_are_as_alone(body):
    assert_rows_are_alike(define_body(*body))


@pytest.mark.parametrize("rank", range(4))
@pytest.mark.parametrize("rank_of_captured", range(4))
def test_rows_and_captures_of_any_rank(rank, rank_of_captured):
    captured = tf.fill([2, 1, 3][3 - rank_of_captured :], 0.5)
    row = tf.TensorSpec([1, 4, 3][3 - rank :])
    (graph,) = assert_rows_are_alike(define_body(lambda x: x + captured, row))
    assert set(types_of(graph)) <= {"AddV2", "Reshape"}


@pytest.mark.parametrize(
    "dtype",
    [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64],
)
def test_integers_of_all_sizes(dtype):
    body = lambda n: (n * n + 2, tf.reduce_sum(n), tf.stack([n, n + n]))  # noqa: E731
    assert_rows_are_alike(define_body(body, tf.TensorSpec([3], dtype)))
