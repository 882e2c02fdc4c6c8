"""What only moves columns of rows: slices, splits, stacks and broadcasts."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

WIDTH = 12


def run(body, rows, blocks):
    """Returns a body's values, its gradient, and whether both were compiled."""
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        f.output(tf.sin(body(f.input(tf.TensorSpec(rows.shape[1:])))))
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        value = f.map(rows)
    gradient = tape.gradient(value, rows)
    return [value, gradient], explanation.not_compiled == {}


def compare(body, shape=(WIDTH,), is_compiled=True):
    """Checks that block programs give what TensorFlow does, if they can."""
    rows = tf.random.stateless_normal([7, *shape], [1, 2])
    found, compiled = run(body, rows, "compiled")
    expected, _ = run(body, rows, "tensorflow")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert compiled == is_compiled


SPLITS = {
    "one element": lambda x: x[3] * x,
    "zeros around": lambda x: tf.pad(x, [[2, 3]]) * tf.pad(x, [[5, 0]]),
    "a new axis": lambda x: tf.concat(
        [tf.expand_dims(x[2:5], 0), tf.sin(tf.expand_dims(x, 0))], 1
    )[0],
    "even": lambda x: tf.concat(tf.split(x, 3)[::-1], 0),
    "sizes": lambda x: tf.concat(tf.split(x, [2, 7, 3])[::-1], 0),
    "rest": lambda x: tf.concat(tf.split(x, [2, -1, 3])[::-1], 0),
    "stack": lambda x: tf.stack([x, 2 * x]),
    "stack of one": lambda x: tf.stack([x]),
    "unstack": lambda x: tf.add_n(tf.unstack(tf.reshape(x, [3, 4]))),
    "stop": lambda x: x * tf.stop_gradient(tf.exp(x)),
}


@pytest.mark.parametrize("body", SPLITS.values(), ids=SPLITS)
def test_splits_and_stacks(body):
    compare(body)


PARTS = {
    "cut": lambda y: y[:2] * y[2:4],
    "of no row alone": lambda y: y[5:],
    "turned around": lambda y: tf.reverse(y, [0]),
    "added up one by one": tf.cumsum,
    "every second": lambda y: tf.tanh(y)[::2],
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_parts_in_which_all_rows_are_the_same(part):
    """What is computed of the zeros beside a row has rows, too."""
    vector = tf.Variable(tf.range(1.0, 8.0))
    compare(lambda x: part(tf.pad(x, [[2, 2]]) + vector), shape=[3])


SLICES = {
    "first": lambda x: x[:5],
    "last": lambda x: x[-5:],
    "middle": lambda x: x[2:-3],
    "beyond the end": lambda x: x[3:100],
    "all": lambda x: x[:],
}


@pytest.mark.parametrize("body", SLICES.values(), ids=SLICES)
def test_slices(body):
    rows = tf.random.stateless_normal([7, WIDTH], [1, 2])
    found, _ = run(body, rows, "compiled")
    expected, _ = run(body, rows, "tensorflow")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("body", SLICES.values(), ids=SLICES)
def test_slices_are_compiled_forward(body):
    options = rtf.Options(blocks="compiled")
    with rtf.SubGraph("f", executor="batched", options=options) as f:
        f.output(tf.sin(body(f.input(tf.TensorSpec([WIDTH])))))
    explanation = rtf.explain(f)
    f.map(tf.zeros([3, WIDTH]))
    assert explanation.not_compiled == {}


def test_rows_of_two_axes():
    compare(lambda x: tf.concat(tf.split(x, [1, 2])[::-1], 0), (3, 4))
    compare(lambda x: tf.stack([x, x * x]), (3, 4))


def test_what_is_not_compiled_is_right_too():
    """Too many columns that stand elsewhere each."""
    compare(lambda x: x[::2], shape=[130], is_compiled=False)
    compare(lambda x: tf.transpose(x), shape=[9, 8], is_compiled=False)


REDUCTIONS = {
    "of two axes": lambda x: x - tf.reduce_mean(tf.reshape(x, [3, 4])),
    "of an axis of one": lambda x: x * tf.reduce_sum(tf.sin(x)[None], 0),
    "beside an axis of one": lambda x: 0.1 * x * tf.reduce_sum(tf.sin(x)[None], 1),
    "largest": lambda x: x * tf.reduce_max(x) - tf.reduce_min(x),
    "mean": lambda x: x - tf.reduce_mean(x),
    "sum": lambda x: 0.1 * x * tf.reduce_sum(x),
    "kept": lambda x: x / (3.0 + tf.reduce_mean(x * x, keepdims=True)),
}


@pytest.mark.parametrize("body", REDUCTIONS.values(), ids=REDUCTIONS)
def test_gradients_of_means_and_sums(body):
    compare(body)


def test_rows_that_are_the_same_in_all_columns():
    """A gradient of a sum may be just that: one column, again and again."""
    rows = tf.random.stateless_normal([7, WIDTH], [1, 2])
    upstream = tf.random.stateless_normal([7], [3, 4])
    found = []
    for blocks in ("compiled", "tensorflow"):
        options = rtf.Options(blocks=blocks)
        with rtf.SubGraph("f", executor="batched", options=options) as f:
            f.output(tf.reduce_sum(f.input(tf.TensorSpec([WIDTH]))))
        with tf.GradientTape() as tape:
            tape.watch(rows)
            value = f.map(rows)
        found.append(tape.gradient(value, rows, output_gradients=upstream))
    np.testing.assert_array_equal(*found)
