"""However columns are cut, moved and joined: as plain TensorFlow does it row by row."""

import hypothesis
import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

import recursive_tf as rtf
from tests.blocks.test_random_cells import gradients_of

NUM_ROWS, WIDTH, MOST = 5, 4, 24
CONSTANT = tf.constant(np.linspace(-1.0, 1.0, MOST), tf.float64)


def cut(x, first, count):
    """Returns some columns of all, one at least."""
    first %= x.shape[0]
    return x[first : first + 1 + count]


# Each takes a row, a vector that all rows share, and two small numbers.
STEPS = {
    "pad": lambda x, v, a, b: tf.pad(x, [[a, b]]),
    "constants beside": lambda x, v, a, b: tf.concat([CONSTANT[: a + 1], x], 0),
    "vector beside": lambda x, v, a, b: tf.concat([x, v[: a + 1]], 0),
    "vector added": lambda x, v, a, b: x + v[: x.shape[0]],
    "vector multiplied": lambda x, v, a, b: x * v[: x.shape[0]],
    "cut": lambda x, v, a, b: cut(x, a, b),
    "turned around": lambda x, v, a, b: tf.reverse(x, [0]),
    "every second": lambda x, v, a, b: x[::2],
    "moved": lambda x, v, a, b: tf.roll(x, a, 0),
    "added up": lambda x, v, a, b: tf.cumsum(x, reverse=a > 1),
    "chosen": lambda x, v, a, b: tf.gather(x, [a % x.shape[0], b % x.shape[0]]),
    "repeated": lambda x, v, a, b: tf.tile(x, [2]),
    "as a matrix": lambda x, v, a, b: tf.reshape(tf.stack([x, cut(x, 0, 99)], 1), [-1]),
    "tanh": lambda x, v, a, b: tf.tanh(x + 0.5),
    "softmax": lambda x, v, a, b: tf.nn.softmax(x),
    "mean": lambda x, v, a, b: x - tf.reduce_mean(x),
    "largest": lambda x, v, a, b: x * tf.reduce_max(cut(x, a, b)),
    "constant columns": lambda x, v, a, b: x + tf.reduce_sum(tf.pad(x, [[2, 0]])[:1]),
}
programs = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 3), st.integers(0, 3)),
    min_size=1,
    max_size=8,
)


def compute(program, row, vector):
    """Returns what the steps make of a row, but for those that make it too wide."""
    for name, a, b in program:
        made = STEPS[name](row, vector, a, b)
        row = made if made.shape[0] <= MOST else row
    return row


@hypothesis.settings(max_examples=15)
@hypothesis.given(programs)
def test_a_random_program_of_columns_is_as_in_plain_tensorflow(program):
    random = np.random.default_rng(0)
    rows = tf.constant(random.normal(size=[NUM_ROWS, WIDTH]))
    vector = tf.Variable(random.normal(size=[MOST]))
    options = rtf.Options(blocks="compiled")
    with rtf.SubGraph("columns", executor="batched", options=options) as columns:
        row = columns.input(tf.TensorSpec([WIDTH], tf.float64))
        columns.output(compute(program, row, vector))
    found = gradients_of(lambda: columns.map(rows), [rows, vector])
    expected = gradients_of(
        lambda: tf.stack([compute(program, row, vector) for row in tf.unstack(rows)]),
        [rows, vector],
    )
    for one, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, tf.convert_to_tensor(wanted), 1e-9, 1e-9)
