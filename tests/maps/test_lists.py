"""What bodies do with lists: any number of rows, of each activation its own.

The oracle is the body itself, run by TensorFlow for one list after the other.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.flatten import item_lists
from recursive_tf.python.batching.graphs.counts import NUMBERS_OF_ROWS, number_of_items
from recursive_tf.python.batching.vectorize.rules import table
from tests.helpers.close import assert_all_close

RANDOM = np.random.default_rng(7)
# Lists of none, three, one and five rows.
SPLITS = np.array([0, 0, 3, 4, 9], np.int32)
ROWS = RANDOM.normal(size=(9, 4)).astype("f")
TABLE = RANDOM.normal(size=(4, 4)).astype("f")
LABELS = tf.constant(RANDOM.normal(size=(9, 4)).astype("f"))
NODES = [1, 0, 3, 2, 0, 3]


def in_a_loop(x):
    return tf.while_loop(
        lambda i, _: i < 2,
        lambda i, total: (i + 1, total * 0.5 + tf.reduce_sum(x, 0)),
        (0, tf.zeros([4])),
    )[1]


def any_of(n, value):
    return tf.where(n > 0, value, 0.0)


# Of a list x, a table that all share, and a number of the activation.
BODIES = {
    # Over all items.
    "sum": lambda x, t, n: tf.reduce_sum(x, 0),
    "sum of everything": lambda x, t, n: tf.reduce_sum(x),
    "sum that keeps its axis": lambda x, t, n: tf.reduce_sum(x, 0, True)[0] * 2.0,
    "sum of sums": lambda x, t, n: tf.reduce_sum(tf.reduce_sum(x, 1) ** 2),
    "largest": lambda x, t, n: tf.reduce_max(tf.concat([x, x * 2.0], 1), 0),
    "least": lambda x, t, n: tf.reduce_min(x, 0),
    "largest of everything": lambda x, t, n: any_of(n, tf.reduce_max(x)),
    "largest integer": lambda x, t, n: (
        tf.cast(tf.reduce_max(tf.range(n)) // 2, tf.float32) * tf.reduce_sum(x)
    ),
    "product": lambda x, t, n: tf.reduce_prod(x, 0),
    "copies of what all share": lambda x, t, n: tf.reduce_sum(
        tf.tile(t[1][None], [tf.shape(tf.range(n))[0], 1]), 0
    ),
    "copies of a number": lambda x, t, n: tf.reduce_sum(
        tf.fill([tf.shape(tf.range(n))[0], 2], 0.5)
    ),
    "mean": lambda x, t, n: any_of(n, tf.reduce_mean(x, 0)),
    "mean of everything": lambda x, t, n: any_of(n, tf.reduce_mean(x)),
    "variance": lambda x, t, n: any_of(n, tf.math.reduce_variance(x, 0)),
    "any": lambda x, t, n: tf.where(tf.reduce_any(x > 1.0, 0), tf.reduce_sum(x), 0.0),
    "all": lambda x, t, n: tf.where(tf.reduce_all(x > -1.0, 0), 1.0, tf.reduce_sum(x)),
    "logsumexp": lambda x, t, n: any_of(n, tf.reduce_logsumexp(x, 0)),
    "softmax over items": lambda x, t, n: tf.linalg.matvec(
        x, tf.nn.softmax(tf.linalg.matvec(x, t[n])), transpose_a=True
    ),
    "log softmax over items": lambda x, t, n: tf.reduce_sum(
        tf.nn.log_softmax(tf.linalg.matvec(x, t[n]))[:, None] * x, 0
    ),
    "matrix of all": lambda x, t, n: tf.matmul(x, tf.tanh(x), transpose_a=True),
    "einsum over items": lambda x, t, n: tf.einsum("kh,k->h", x, tf.tanh(x[:, 0])),
    # Item by item.
    "matrix product": lambda x, t, n: tf.reduce_sum(tf.tanh(x @ t), 0),
    "product with a vector": lambda x, t, n: tf.reduce_sum(
        tf.tanh(tf.linalg.matvec(x, t[n]))
    ),
    "einsum": lambda x, t, n: tf.reduce_sum(tf.tanh(tf.einsum("kh,hj->kj", x, t)), 0),
    "with a row": lambda x, t, n: tf.reduce_sum(tf.tanh(x + t[n]), 0),
    "with a column": lambda x, t, n: tf.reduce_sum(x * x[:, 0][:, None], 0),
    "choice": lambda x, t, n: tf.reduce_sum(tf.where(x > 0, x, t[n]), 0),
    "softmax of each": lambda x, t, n: tf.reduce_sum(tf.nn.softmax(x) * x, 0),
    "unit vectors": lambda x, t, n: tf.reduce_sum(tf.nn.l2_normalize(x, 1), 0),
    "dense layer": lambda x, t, n: tf.reduce_sum(
        tf.nn.relu(tf.nn.bias_add(x @ t, t[0])), 0
    ),
    "reshape": lambda x, t, n: tf.reduce_sum(
        tf.reshape(x, [-1, 2, 2]) @ tf.reshape(x, [-1, 2, 2]), 0
    ),
    "split": lambda x, t, n: tf.reduce_sum(tf.split(x, 2, 1)[0] * x[:, 2:], 0),
    "stack": lambda x, t, n: tf.reduce_sum(tf.tanh(tf.stack([x, x * 2.0], 1)), [0, 1]),
    "slice": lambda x, t, n: tf.reduce_sum(x[:, 1:3], 0) + tf.reduce_sum(x[..., -1]),
    "lookup by items": lambda x, t, n: tf.reduce_sum(tf.gather(t, tf.argmax(x, 1)), 0),
    "one hot": lambda x, t, n: tf.reduce_sum(tf.one_hot(tf.argmax(x, 1), 4) * x, 0),
    # Sizes.
    "how many": lambda x, t, n: tf.cast(tf.shape(x)[0], tf.float32) * tf.reduce_sum(x),
    "size": lambda x, t, n: tf.cast(tf.size(x), tf.float32) * tf.reduce_sum(x),
    "a row for each": lambda x, t, n: tf.reduce_sum(
        tf.tanh(tf.concat([x, tf.broadcast_to(t[n], tf.shape(x))], 1)), 0
    ),
    "a column for each": lambda x, t, n: tf.reduce_sum(
        x * tf.broadcast_to(tf.tanh(x[:, :1]), tf.shape(x)), 0
    ),
    "tiles": lambda x, t, n: tf.reduce_sum(
        tf.tanh(tf.concat([x, tf.tile(t[n][None], [tf.shape(x)[0], 1])], 1)), 0
    ),
    "zeros": lambda x, t, n: tf.reduce_sum(
        tf.tanh(tf.concat([x, tf.zeros([tf.shape(x)[0], 2]) + t[n][:2]], 1)), 0
    ),
    "places of items": lambda x, t, n: tf.reduce_sum(
        x * tf.cast(tf.range(tf.shape(x)[0]), tf.float32)[:, None], 0
    ),
    # Other lists.
    "range": lambda x, t, n: tf.reduce_sum(tf.tanh(tf.gather(t, tf.range(n))), 0),
    "range downwards": lambda x, t, n: tf.reduce_sum(
        tf.tanh(tf.gather(t, tf.range(n, -1, -2))), 0
    ),
    "two slices": lambda x, t, n: tf.reduce_sum(
        x * LABELS[tf.gather(SPLITS, n) : tf.gather(SPLITS, n + 1)], 0
    ),
    "a slice of a row": lambda x, t, n: tf.reduce_sum(tf.tanh((t * t[n])[:n]), 0),
    "slices from the end": lambda x, t, n: (
        tf.reduce_sum(LABELS[-n - 1 : -1], 0)
        + tf.reduce_sum(LABELS[n:], 0) * tf.reduce_sum(LABELS[: n + 20] * t[n], 0)
    ),
    "mask": lambda x, t, n: tf.reduce_sum(
        tf.gather(t, tf.boolean_mask(tf.range(4), t[n] > 0)), 0
    ),
    "masked rows": lambda x, t, n: tf.reduce_sum(tf.boolean_mask(t, t[n] > 0) ** 2, 0),
    # Around.
    "a loop": lambda x, t, n: in_a_loop(x),
    "a branch": lambda x, t, n: tf.cond(
        n > 1, lambda: tf.reduce_sum(tf.tanh(x), 0), lambda: t[n]
    ),
}


def between(rows, n):
    return rows[tf.gather(SPLITS, n) : tf.gather(SPLITS, n + 1)]


def alone(body, nodes):
    """Returns what the body gives of one list after the other, and gradients."""
    rows, shared = tf.Variable(ROWS), tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        found = tf.stack([body(between(rows, n) * 1.0, shared, n) for n in nodes])
        loss = loss_of(found)
    return [found, *gradients_of(tape, loss, [rows, shared])]


def mapped(body, executor, nodes):
    rows, shared = tf.Variable(ROWS), tf.Variable(TABLE)
    with rtf.SubGraph("f", executor=executor) as f:
        n = f.input(tf.int32)
        f.output(body(between(rows, n) * 1.0, shared, n))
    with tf.GradientTape() as tape:
        found = f.map(nodes)
        loss = loss_of(found)
    return [found, *gradients_of(tape, loss, [rows, shared])]


def loss_of(found):
    # There may be no largest item.
    return tf.reduce_sum(tf.where(tf.math.is_finite(found), tf.sin(found), 0.0))


def gradients_of(tape, loss, variables):
    found = tape.gradient(loss, variables, unconnected_gradients="zero")
    return [tf.convert_to_tensor(gradient) for gradient in found]


def assert_close(found, expected):
    assert_all_close(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_lists_are_as_alone(body):
    expected = alone(body, tf.constant(NODES))
    assert_close(mapped(body, "batched", NODES), expected)
    assert_close(mapped(body, "dataflow", NODES), expected)


@pytest.mark.parametrize("name", ["sum", "logsumexp", "matrix product", "mask"])
def test_there_may_be_no_items_at_all(name):
    expected = alone(BODIES[name], tf.constant([0, 0]))
    assert_close(mapped(BODIES[name], "batched", [0, 0]), expected)


def test_a_gather_of_a_ragged_tensor_is_a_list():
    ragged = tf.ragged.constant([[1.0, 2.0], [], [4.0]])
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.int32)
        f.output(tf.reduce_sum(tf.gather(ragged, n) ** 2) + tf.reduce_sum(ragged[n]))
    assert f.map([2, 1, 0]).numpy().tolist() == [20.0, 0.0, 8.0]


def test_what_is_said_to_be_made_has_a_rule():
    assert set(table._LIST_MAKERS) == item_lists.MAKERS


def test_primes_stand_for_numbers_of_items():
    for num_rows in NUMBERS_OF_ROWS:
        found = [number_of_items(num_rows, index) for index in range(5)]
        assert len({num_rows, *found}) == 6
        assert all(p % d for p in found for d in range(2, 256))


REFUSED = {
    "another order": (lambda x, t, n: tf.reduce_sum(x[::-1][:, 0]), "StridedSlice"),
    "one item": (lambda x, t, n: x[0], "StridedSlice"),
    "other lengths": (
        lambda x, t, n: tf.reduce_sum(x[:, 0] * tf.cast(tf.range(n), tf.float32)),
        "as many items as each other",
    ),
    "items one after the other": (
        lambda x, t, n: tf.reduce_sum(tf.cumsum(x) ** 2),
        "Cumsum",
    ),
    "an outer product": (
        lambda x, t, n: tf.reduce_sum(x[:, :1] * x[:, 1]),
        "not known how to do it item by item",
    ),
    "a list that is pushed": (None, "may differ between activations"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_is_no_matter_of_items_is_refused(case):
    body, reason = case
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        x = between(tf.constant(ROWS), n)
        if body is None:
            f.push("x", x, index=n, size=4)
            f.output(n)
        else:
            f.output(body(x, tf.constant(TABLE), n))
    explanation = rtf.explain(f)
    assert explanation.executor == "dataflow"
    assert reason in explanation.reasons[0]
    assert "test_lists.py:" in explanation.reasons[0]
