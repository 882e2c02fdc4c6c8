"""Random numbers in block programs: those that TensorFlow draws, bit by bit."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.blocks.compared import (
    CELLS,
    COMPILED,
    DATAFLOW,
    TENSORFLOW,
    assert_equal,
    encoder_of,
    forest_of,
    values_and_gradients,
)
from tests.helpers.close import assert_all_close

WIDTH = 6
LAYERS = {
    "AlphaDropout": lambda: keras.layers.AlphaDropout(0.4, seed=1),
    "Dropout": lambda: keras.layers.Dropout(0.4, seed=1),
    "GaussianDropout": lambda: keras.layers.GaussianDropout(0.4, seed=1),
    "GaussianNoise": lambda: keras.layers.GaussianNoise(0.4, seed=1),
}


def of_two_seeds(y, n):
    """Seeds of both dtypes, one of which depends on a number twice."""
    first = tf.random.stateless_uniform([WIDTH], [n, 3], dtype=y.dtype)
    seed = tf.stack([tf.cast(n, tf.int64), tf.cast(n * n - 7, tf.int64)])
    return y + first * tf.random.stateless_truncated_normal(
        [WIDTH], seed, dtype=y.dtype
    )


NOISES = {
    "uniform": lambda y, n: y + tf.random.uniform([WIDTH], -1, 2, y.dtype),
    "normal": lambda y, n: y * tf.random.normal([WIDTH], 0.5, 2.0, y.dtype),
    "truncated_normal": lambda y, n: (
        y + tf.random.truncated_normal([2, 3], dtype=y.dtype)[0, 1]
    ),
    "dropout": lambda y, n: tf.nn.dropout(y, 0.4),
    "several draws": lambda y, n: (
        tf.nn.dropout(y, 0.4) * tf.random.normal([WIDTH], dtype=y.dtype)
        + tf.nn.dropout(y, 0.2)
    ),
    "seeds of an activation": of_two_seeds,
}


def rows_and_gradients(noise, choice, num_rows=9, dtype=tf.float32, width=WIDTH):
    """Returns the rows that a recursion of some steps gives, and their gradient."""
    tf.random.set_seed(5)
    rows = tf.random.stateless_normal([num_rows, width], [1, 2], dtype=dtype)
    with rtf.SubGraph(
        "f", output_signature=tf.TensorSpec([width], dtype), **choice
    ) as f:
        y, n = f.input(tf.TensorSpec([width], dtype)), f.input(tf.int32)
        f.output(tf.cond(n <= 0, lambda: y, lambda: f(tf.sin(noise(y, n)), n - 1)))
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        value = f.map(rows, tf.range(num_rows) % 4)
    gradient = tape.gradient(value, rows)
    return [value, gradient], explanation


def check(noise, **kwargs):
    """Checks block programs, all of which have to be compiled, against the others."""
    return check_made(lambda: noise, **kwargs)


def check_made(make, **kwargs):
    """The same of what has a state, and is made anew for each comparison."""
    found, explanation = rows_and_gradients(make(), COMPILED, **kwargs)
    assert explanation.not_compiled == {}
    for other in (TENSORFLOW, DATAFLOW):
        expected, _ = rows_and_gradients(make(), other, **kwargs)
        assert_all_close(found, expected, rtol=1e-5, atol=1e-6)
    return found


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_what_a_body_draws(noise, dtype):
    check(noise, dtype=dtype)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_noise(name):
    def make():
        layer = LAYERS[name]()
        return lambda y, n: layer(y[None], training=True)[0]

    check_made(make)


def test_a_generator_that_root_calls_move_on():
    def make():
        generator = tf.random.Generator.from_seed(3)
        return lambda y, n: y + generator.normal([WIDTH])

    check_made(make)


def test_rows_that_threads_share():
    """Enough of them; no two rows have the same numbers."""
    width = 500
    value, _ = check(
        lambda y, n: 0 * y + tf.random.uniform([width]), num_rows=120, width=width
    )
    drawn = value.numpy()[np.arange(120) % 4 > 0]
    assert len(np.unique(drawn[:, 0])) == len(drawn)


def test_whole_numbers_are_drawn_by_tensorflow():
    def noise(y, n):
        del n
        return y * tf.cast(tf.random.uniform([WIDTH], 1, 4, tf.int32), y.dtype)

    found, explanation = rows_and_gradients(noise, COMPILED)
    assert "RecursiveIntRows" in str(explanation.not_compiled)
    assert_all_close(found, rows_and_gradients(noise, DATAFLOW)[0], rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in CELLS if name != "normalized"])
def test_cells_with_dropout(name, monkeypatch):
    made = CELLS[name]

    def dropping(*args, **kwargs):
        return made(*args, dropout=0.3, recurrent_dropout=0.4, **kwargs)

    monkeypatch.setitem(CELLS, name, dropping)
    forest = forest_of(name, 5)
    choices = (COMPILED, TENSORFLOW, DATAFLOW)
    encoders = [encoder_of(name, 12, choice) for choice in choices]
    found = [values_and_gradients(encoder, forest) for encoder in encoders]
    assert_equal(found[0], found[1])
    assert_equal(found[0], found[2])
    step = tf.function(lambda: encoders[0](forest, training=True))
    explanation = rtf.explain(step)
    step()
    assert explanation.not_compiled == {}
