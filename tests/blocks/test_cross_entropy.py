"""A softmax, and the loss of a label, in the body of each node."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.helpers.failures import failure_of

ROWS, CLASSES = 7, 5
LABELS = [3, 0, 4, 4, 1, 2, 0]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, 1e30, -1e30, 2.5]


def run(body, blocks, logits, *others):
    """Returns a body's values, and their gradient by the logits."""
    inputs = (logits, *others)
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        f.output(body(*(f.input(tf.TensorSpec(x.shape[1:], x.dtype)) for x in inputs)))
    explanation = rtf.explain(f)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        value = f.map(*inputs)
        loss = tf.reduce_sum(tf.sin(value))
    gradient = tape.gradient(loss, logits)
    if blocks == "compiled":
        assert explanation.not_compiled == {}
    return [value, gradient]


def logits_of(dtype, num_classes=CLASSES):
    return 3 * tf.random.stateless_normal([ROWS, num_classes], [1, 2], dtype=dtype)


def sparse(logits, label):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(label, logits)


def with_keras(logits, label):
    return tf.keras.losses.sparse_categorical_crossentropy(
        label, logits, from_logits=True
    )


def dense(logits, label):
    labels = tf.one_hot(label, logits.shape[0], 0.9, 0.02, dtype=logits.dtype)
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits)


def by_hand(logits, label):
    labels = tf.one_hot(label, logits.shape[0], dtype=logits.dtype)
    return -tf.reduce_sum(labels * tf.nn.log_softmax(logits))


@pytest.mark.parametrize("num_classes", [1, 2, 5, 16, 37])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float", "double"])
@pytest.mark.parametrize("loss", [sparse, dense, by_hand, with_keras])
def test_losses_are_those_of_tensorflow(loss, dtype, num_classes):
    labels = tf.constant(LABELS) % num_classes
    found = run(loss, "compiled", logits_of(dtype, num_classes), labels)
    expected = run(loss, "tensorflow", logits_of(dtype, num_classes), labels)
    assert_all_close(found, expected)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64], ids=["int32", "int64"])
def test_labels_may_be_looked_up(dtype):
    labels = tf.constant(LABELS, dtype)

    def body(logits, node):
        return sparse(logits, tf.gather(labels, node))

    nodes = tf.constant([6, 5, 4, 3, 2, 1, 0])
    found = run(body, "compiled", logits_of(tf.float32), nodes)
    expected = run(body, "tensorflow", logits_of(tf.float32), nodes)
    assert_all_close(found, expected)


@pytest.mark.parametrize("softmax", [tf.nn.softmax, tf.nn.log_softmax])
def test_softmaxes_are_those_of_tensorflow(softmax):
    found = run(softmax, "compiled", logits_of(tf.float32))
    assert_all_close(found, run(softmax, "tensorflow", logits_of(tf.float32)))


@pytest.mark.parametrize("loss", [sparse, dense])
@pytest.mark.parametrize("number", SPECIAL)
def test_special_numbers_pass_as_in_tensorflow(loss, number):
    logits = np.tile(np.arange(CLASSES, dtype=np.float32), (ROWS, 1))
    np.fill_diagonal(logits, number)
    labels = tf.constant(LABELS)
    found = run(loss, "compiled", tf.constant(logits), labels)
    expected = run(loss, "tensorflow", tf.constant(logits), labels)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("on", "off"), [(1.0, 0.0), (-2.0, 7.5)])
def test_one_hot_beyond_its_columns_has_none(on, off):
    def body(x, number):
        return x * tf.one_hot(number, CLASSES, on, off)

    numbers = tf.constant([0, 4, 5, -1, 2**24 + 1, 2, 3])
    found = run(body, "compiled", logits_of(tf.float32), numbers)
    assert_all_close(found, run(body, "tensorflow", logits_of(tf.float32), numbers))


@pytest.mark.parametrize("label", [-1, CLASSES])
def test_a_label_that_is_no_class_is_an_error_of_its_row(label):
    def body(logits, label):
        return sparse(logits, label)

    labels = tf.constant([0, 1, label, 2, 3, 4, 0])
    options = rtf.Options(blocks="compiled")
    with rtf.SubGraph("f", executor="batched", options=options) as f:
        f.output(body(f.input(tf.TensorSpec([CLASSES])), f.input(tf.int32)))
    failure = failure_of(lambda: f.map(logits_of(tf.float32), labels))
    assert f"label value of {label} which is outside the valid range" in str(failure)


def test_equal_words_with_other_labels_have_losses_of_their_own():
    words, weights = logits_of(tf.float32, 4), logits_of(tf.float32)[:4]

    def body(blocks):
        options = rtf.Options(blocks=blocks, share_rows=True)
        with rtf.SubGraph("f", executor="batched", options=options) as f:
            word, label = f.input(tf.int32), f.input(tf.int32)
            logits = tf.linalg.matvec(weights, tf.gather(words, word), True)
            f.output(sparse(logits, label))
        explanation = rtf.explain(f)
        losses = f.map([2, 2, 1, 2], [3, 1, 3, 3])
        return losses, sum(explanation.shared.values())

    (found, shared), (expected, _) = body("compiled"), body("tensorflow")
    assert shared == 0.25
    assert_all_close(found, expected)
