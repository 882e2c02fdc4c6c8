"""Functions, conditionals, loops and layers that call no SubGraph."""

import pytest
import tensorflow as tf

from tests.batching.interpreter import Compiled, types_of
from tests.batching.rows import (
    FLAG,
    INDEX,
    SQUARE,
    VECTOR,
    assert_rows_are_alike,
    define_body,
)

MATRIX = tf.random.stateless_normal([3, 3], [7, 7])
VARIABLE = tf.Variable(MATRIX)
IS_ON = tf.Variable(initial_value=True)


def repeat(times, function, x):
    """Applies a function in a loop of the graph."""
    return tf.while_loop(
        lambda i, *_: i < times, lambda i, y: (i + 1, function(y)), (0, x)
    )[1]


def running_sums(matrix):
    sums = tf.TensorArray(tf.float32, 3)
    _, sums, _ = tf.while_loop(
        lambda i, *_: i < 3,
        lambda i, array, total: (
            i + 1,
            array.write(i, total + matrix[i]),
            total + matrix[i],
        ),
        (0, sums, tf.zeros([3])),
    )
    return sums.stack()


BODIES = {
    "a function": (lambda x: tf.function(tf.tanh)(x), VECTOR),
    "a compiled function": (
        lambda x: tf.function(lambda y: tf.tanh(y) * VARIABLE[0], jit_compile=True)(x),
        VECTOR,
    ),
    "a conditional of captures": (
        lambda x: tf.cond(IS_ON, lambda: x * 2.0, lambda: x),
        VECTOR,
    ),
    "a conditional with a lookup": (
        lambda n: tf.cond(IS_ON, lambda: tf.gather(VARIABLE, n), lambda: MATRIX[0]),
        INDEX,
    ),
    "a conditional": (lambda f, x: tf.cond(f, lambda: x, lambda: -x), FLAG, VECTOR),
    "a choice": (
        lambda n, x: tf.switch_case(n, [lambda: x, lambda: -x]),
        *(INDEX, VECTOR),
    ),
    "a loop": (lambda x: repeat(3, lambda y: tf.tanh(y) * x, x), VECTOR),
    "a loop that does not turn": (lambda x: repeat(0, tf.tanh, x) * 2.0, VECTOR),
    "a loop of captures": (
        lambda x: x + repeat(3, lambda y: y * 2.0, MATRIX[0]),
        VECTOR,
    ),
    "a loop that makes rows of captures": (
        lambda x: repeat(3, lambda y: y * x, MATRIX[0]),
        VECTOR,
    ),
    "a loop in a loop": (
        lambda x: repeat(2, lambda y: repeat(2, tf.tanh, y) + x, x),
        VECTOR,
    ),
    "a conditional on a counter": (
        lambda x: tf.while_loop(
            lambda i, _: i < 3,
            lambda i, y: (i + 1, tf.cond(i < 1, lambda: y * x, lambda: y + x)),
            (0, x),
        )[1],
        VECTOR,
    ),
    "map_fn": (lambda m: tf.map_fn(tf.tanh, m), SQUARE),
    "map_fn over captures": (
        lambda x: tf.map_fn(lambda row: row * x, MATRIX),
        VECTOR,
    ),
    "scan": (lambda m: tf.scan(lambda total, x: total * x, m), SQUARE),
    "foldl": (lambda m: tf.foldl(lambda total, x: total * x, m), SQUARE),
    "a tensor array": (running_sums, SQUARE),
    "a vectorized map": (lambda m: tf.vectorized_map(tf.tanh, m), SQUARE),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_are_as_alone(body):
    assert_rows_are_alike(define_body(*body))


def test_a_loop_is_written_out():
    (graph,) = assert_rows_are_alike(
        define_body(lambda x: repeat(3, tf.tanh, x), VECTOR)
    )
    assert types_of(graph) == ["Tanh"] * 3


def test_what_a_loop_does_to_captures_is_of_the_prologue():
    captured = repeat(3, lambda y: y * 2.0, MATRIX[0])
    compiled = Compiled(define_body(lambda x: x + captured, VECTOR))
    _, ((graph, _),) = compiled.inference_forms()
    assert types_of(graph) == ["AddV2"]


def layer(make, shape):
    """Returns a body that applies a Keras layer to a row."""
    built = make()
    built.build((None, *shape))
    return lambda x: built(x[tf.newaxis])[0]


LAYERS = {
    "dense": (lambda: tf.keras.layers.Dense(4, activation="gelu"), [3]),
    "layer normalization": (tf.keras.layers.LayerNormalization, [3]),
    "batch normalization": (tf.keras.layers.BatchNormalization, [3]),
    "lstm": (lambda: tf.keras.layers.LSTM(3), [4, 3]),
    "gru, all states": (lambda: tf.keras.layers.GRU(3, return_sequences=True), [4, 3]),
    "convolution": (lambda: tf.keras.layers.Conv1D(2, 3), [5, 3]),
    "pooling": (tf.keras.layers.GlobalMaxPooling1D, [5, 3]),
}


@pytest.mark.parametrize(("make", "shape"), LAYERS.values(), ids=LAYERS)
def test_keras_layers(make, shape):
    body = layer(make, shape)
    assert_rows_are_alike(define_body(body, tf.TensorSpec(shape)), (1, 3))


def test_attention():
    attention = tf.keras.layers.MultiHeadAttention(2, 2)
    attention.build((None, 3, 3), (None, 3, 3))
    body = lambda m: attention(m[tf.newaxis], m[tf.newaxis])[0]  # noqa: E731
    assert_rows_are_alike(define_body(body, SQUARE))
