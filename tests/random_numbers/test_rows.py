"""Random numbers of rows are, bit by bit, those that TensorFlow draws for each."""

import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.batching.refusal import CannotBatchError
from tests.batching.interpreter import compilation_of, types_of
from tests.batching.rows import (
    INDEX,
    INDICES,
    VECTOR,
    assert_rows_are_alike,
    define_body,
)
from tests.helpers.failures import failure_of, message_of

SEEDS = tf.constant([[3, 4], [0, 0], [-1, 2**31 - 1], [3, 5]])

DRAWS = {
    "uniform": (tf.random.stateless_uniform, (tf.float32, tf.float64, tf.float16)),
    "normal": (
        tf.random.stateless_normal,
        (tf.float32, tf.float64, tf.float16, tf.bfloat16),
    ),
    "truncated normal": (
        tf.random.stateless_truncated_normal,
        (tf.float32, tf.float64, tf.float16, tf.bfloat16),
    ),
    "integers": (
        lambda shape, seed, dtype: tf.random.stateless_uniform(
            shape, seed, -7, 1000, dtype
        ),
        (tf.int32, tf.int64),
    ),
    "all integers": (
        lambda shape, seed, dtype: tf.random.stateless_uniform(
            shape, seed, None, None, dtype
        ),
        (tf.int32, tf.int64, tf.uint32, tf.uint64),
    ),
}
CASES = [(draw, dtype) for draw, dtypes in DRAWS.values() for dtype in dtypes]
NAMES = [f"{name} {t.name}" for name, (_, dtypes) in DRAWS.items() for t in dtypes]


def assert_draws_alike(body, rows, *others):
    """Compares a body with itself, for each row and for all at once, bit by bit."""
    specs = [tf.TensorSpec(t.shape[1:], t.dtype) for t in (rows, *others)]
    f = define_body(body, *specs)
    assert compilation_of(f)
    found = f.map(rows, *others)
    expected = [body(*row) for row in zip(rows, *others, strict=True)]
    np.testing.assert_array_equal(found, tf.stack(expected))
    return f


@pytest.mark.parametrize("shape", [[], [1], [4], [7], [2, 3], [300], [0]], ids=str)
@pytest.mark.parametrize(("draw", "dtype"), CASES, ids=NAMES)
def test_draws_are_those_of_one_row(draw, dtype, shape):
    assert_draws_alike(lambda seed: draw(shape, seed, dtype=dtype), SEEDS)


def test_seeds_may_be_of_64_bits():
    seeds = tf.constant([[2**40 + 3, -(2**35)], [1, 2]], tf.int64)
    assert_draws_alike(lambda seed: tf.random.stateless_normal([5], seed), seeds)


def test_each_row_may_have_a_range_of_its_own():
    def body(seed, low):
        return tf.random.stateless_uniform([9], seed, low, low + 5, tf.int32)

    assert_draws_alike(body, SEEDS, tf.constant([0, -100, 7, 3]))


def test_rows_of_one_seed_draw_in_ranges_of_their_own():
    def body(low):
        return tf.random.stateless_uniform([9], [1, 2], low, low + 5, tf.int32)

    assert_draws_alike(body, tf.constant([0, -100, 7]))


def test_a_range_without_numbers_is_an_error():
    def body(low):
        return tf.random.stateless_uniform([9], [1, 2], low, 5, tf.int32)

    f = define_body(body, INDEX)
    call = lambda: f.map([1, 5])  # noqa: E731
    assert "Need minval < maxval, got 5 >= 5" in failure_of(
        call, tf.errors.InvalidArgumentError
    )


def test_seeds_are_split_and_folded_in():
    def body(seed, number):
        first, second = tf.unstack(tf.random.split(seed))
        folded = tf.random.fold_in(first, number)
        return tf.random.stateless_normal([3], folded) + tf.random.stateless_uniform(
            [3], second
        )

    assert_draws_alike(body, SEEDS, tf.constant([1, 2, 3, 4]))


def test_dropout_with_a_seed_of_the_row():
    def body(x, seed):
        return tf.nn.experimental.stateless_dropout(x, 0.4, seed)

    assert_rows_are_alike(define_body(body, VECTOR, INDICES))


def test_the_same_numbers_for_all_rows_are_drawn_once():
    def body(x):
        return x * tf.random.stateless_normal([3], [1, 2])

    (graph,) = assert_rows_are_alike(define_body(body, VECTOR))
    assert types_of(graph) == ["Mul"]


def test_another_algorithm_is_refused():
    body = lambda seed: tf.random.stateless_uniform(  # noqa: E731
        [3], seed, alg="threefry"
    )
    with pytest.raises(CannotBatchError, match='algorithm is not "philox"'):
        compilation_of(define_body(body, INDICES))


def test_many_rows_are_drawn_by_several_threads():
    seeds = tf.stack([tf.range(5000), tf.range(5000) // 7], 1)
    found = define_body(lambda s: tf.random.stateless_normal([100], s), INDICES).map(
        seeds
    )
    for row in (0, 1, 2499, 2500, 4999):
        expected = tf.random.stateless_normal([100], seeds[row])
        np.testing.assert_array_equal(found[row], expected)


BAD = {
    "keys": (
        lambda: library.recursive_uniform_rows(
            shape=[2],
            key=tf.zeros([3, 2], tf.uint64),
            counter=tf.zeros([3, 2], tf.uint64),
            dtype=tf.float32,
        ),
        r"keys must have shape [N, 1], not [3,2]",
    ),
    "counters": (
        lambda: library.recursive_uniform_rows(
            shape=[2],
            key=tf.zeros([3, 1], tf.uint64),
            counter=tf.zeros([2, 2], tf.uint64),
            dtype=tf.float32,
        ),
        r"counters must have shape [N, 2], not [2,2]",
    ),
    "bounds": (
        lambda: library.recursive_int_rows(
            shape=[2],
            key=tf.zeros([3, 1], tf.uint64),
            counter=tf.zeros([3, 2], tf.uint64),
            minval=[0, 0, 0],
            maxval=[1, 1],
        ),
        r"bounds must have shape [3], not [2]",
    ),
    "seeds": (
        lambda: library.recursive_key_rows(seed=[[1, 2, 3]]),
        r"seeds must have shape [N, 2], not [1,3]",
    ),
    "numbers": (
        lambda: library.recursive_mix_key(
            key=tf.zeros([3], tf.uint64), number=tf.zeros([3, 1], tf.uint64)
        ),
        r"keys have shape [3], but numbers [3,1]",
    ),
}


@pytest.mark.parametrize(("call", "says"), BAD.values(), ids=BAD)
def test_shapes_that_do_not_fit_are_errors(call, says):
    assert says in message_of(call, tf.errors.InvalidArgumentError)
