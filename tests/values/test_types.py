"""Types and shapes of what SubGraphs take, compute and return."""

import dataclasses
from functools import partial

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.unrolled import (
    assert_close,
    check_call,
    check_rows,
    check_same,
    define_repeat,
    differentiated,
    unroll,
)
from tests.helpers.values import Pair
from tests.language.features import feature

feature = partial(feature, "Types and shapes")

SHAPE_VARIES = "its shape, …, may differ between activations"
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]
INTEGERS = [
    *(tf.int8, tf.int16, tf.int32, tf.int64),
    *(tf.uint8, tf.uint16, tf.uint32, tf.uint64),
]
COMPLEX = [tf.complex64, tf.complex128]

by_dtype = partial(pytest.mark.parametrize, "dtype", ids=lambda dtype: dtype.name)


def wave(y, n):
    return tf.sin(y) * tf.cast(n, y.dtype)


# --- Types


@by_dtype(argvalues=FLOATS)
@feature("`float16`, `bfloat16`, `float32`, `float64`", gradients=True)
def test_floating_point(dtype):
    weight = tf.Variable(tf.constant([0.5, 1.5], dtype))
    rows = tf.constant([[0.5, -1], [2, 0.25], [0, 1]], dtype)
    check_rows(lambda y, n: wave(y, n) * weight, rows, weight)


@by_dtype(argvalues=INTEGERS)
@feature("integers of 8 to 64 bits, with and without sign")
def test_integers(dtype):
    step = lambda y, n: y * 3 + tf.cast(n, dtype)  # noqa: E731
    check_rows(step, tf.constant([[1, 2], [3, 0], [0, 1]], dtype))


@by_dtype(argvalues=COMPLEX)
@feature("`complex64`, `complex128`", gradients=True)
def test_complex_numbers(dtype):
    weight = tf.Variable(tf.constant(0.5 + 0.25j, dtype))
    check_rows(
        lambda y, n: wave(y, n) * weight, tf.constant([1 + 1j] * 3, dtype), weight
    )


@feature("`bool`")
def test_truth_values():
    odd = lambda y, n: tf.not_equal(y, tf.equal(n % 2, 1))  # noqa: E731
    check_rows(odd, [[True, False], [True, True], [False, False]])


@feature("`string`")
def test_texts():
    more = lambda y, n: tf.strings.join([y, "/", tf.strings.as_string(n)])  # noqa: E731
    check_rows(more, ["a", "b", "c"])


@feature("`variant`, handed from call to call")
def test_variants():
    with rtf.SubGraph("hand_down") as hand_down:
        n, value = hand_down.input(tf.int32), hand_down.input(tf.variant)
        more = lambda: hand_down(n - 1, value)  # noqa: E731
        hand_down.output(tf.cond(n < 1, lambda: value, more))

    @tf.function
    def through(rows):
        empty = tf.constant([], tf.int32)
        rows = tf.raw_ops.TensorListFromTensor(tensor=rows, element_shape=empty)
        return tf.raw_ops.TensorListStack(
            input_handle=hand_down(3, rows),
            element_shape=empty,
            element_dtype=tf.float32,
        )

    assert through(tf.constant([1.5, 2.5])).numpy().tolist() == [1.5, 2.5]


# --- Shapes


@pytest.mark.parametrize("shape", [[], [2], [2, 3], [2, 1, 3], [1, 2, 1, 3]], ids=len)
@feature("static shapes, from scalars to rank 4", gradients=True)
def test_static_shapes(shape):
    weight = tf.Variable(tf.fill(shape, 0.5))
    rows = tf.reshape(tf.linspace(-1.0, 1.0, 3 * tf.size(weight)), [3, *shape])
    check_rows(lambda y, n: wave(y, n) * weight, rows, weight)


@pytest.mark.parametrize("shape", [[None, 3], [None, None], None], ids=str)
@feature(
    "dimensions and ranks known only when it runs", gradients=True, refused=SHAPE_VARIES
)
def test_unknown_dimensions(shape):
    unknown = tf.TensorShape(shape)
    check_call(wave, [[0.5, -1.0, 2.0], [0.0, 1.0, 3.0]], shape=unknown)


@feature("shapes that grow with the recursion", gradients=True, refused=SHAPE_VARIES)
def test_shapes_that_grow():
    step = lambda y, n: tf.concat([y, wave(y, n)], 0)  # noqa: E731
    check_call(step, [0.5, -1.0], shape=[None])


@feature("tensors without elements", gradients=True)
def test_tensors_without_elements():
    weight = tf.Variable([0.5, 1.5, 2.5])
    check_rows(lambda y, n: wave(y, n) * weight, tf.zeros([3, 0, 3]), weight)


@feature("`.map` of no rows", gradients=True)
def test_a_map_of_no_rows():
    weight = tf.Variable([0.5, 1.5])
    step = lambda y, n: wave(y, n) * weight  # noqa: E731
    repeat = define_repeat(step, shape=[2])
    depths = tf.zeros([0], tf.int32)
    found = differentiated(lambda x: repeat.map(depths, x), tf.zeros([0, 2]), [weight])
    for one, expected in zip(found, [[0, 2], [0, 2], [2]], strict=True):
        assert_close(one, tf.zeros(expected))


# --- Structures


@dataclasses.dataclass
class State:
    """A dataclass as `tf.nest` knows it."""

    h: tf.Tensor
    c: tf.Tensor

    def __tf_flatten__(self):
        return (), (self.h, self.c)

    @classmethod
    def __tf_unflatten__(cls, metadata, leaves):
        del metadata
        return cls(*leaves)


STRUCTURES = {
    "tuple": lambda a, b: (a, b),
    "list": lambda a, b: [a, b],
    "dict": lambda a, b: {"h": a, "c": b},
    "named tuple": Pair,
    "dataclass": State,
    "nested": lambda a, b: {"pairs": [Pair(a, (b,))], "empty": ()},
}


@pytest.mark.parametrize("make", STRUCTURES.values(), ids=STRUCTURES)
@feature(
    "tuples, lists, dicts, named tuples, and dataclasses that `tf.nest` knows",
    gradients=True,
)
def test_structures(make):
    def step(state, n):
        a, b = tf.nest.flatten(state)
        return make(wave(b, n), a * b)

    repeat = define_repeat(step, make(tf.float32, tf.float32))

    def recurse(x):
        state = repeat(3, make(x, 2 * x))
        tf.nest.assert_same_structure(state, make(x, x))
        return tf.stack(tf.nest.flatten(state))

    def loop(x):
        return tf.stack(tf.nest.flatten(unroll(step, 3, make(x, 2 * x))))

    check_same(recurse, loop, tf.constant(0.7))
