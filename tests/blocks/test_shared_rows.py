"""Calls that compute the same of equal numbers, and are computed once for all."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.blocks.compared import (
    CELLS,
    assert_equal,
    encoder_of,
    forest_of,
    values_and_gradients,
)
from tests.helpers.close import assert_all_close
from tests.helpers.failures import failure_of

UNITS = 5
WORDS = tf.constant(np.random.default_rng(0).normal(size=(6, UNITS)), tf.float32)
WEIGHTS = tf.constant(np.random.default_rng(1).normal(size=(UNITS, 3)), tf.float32)
NODES = tf.constant([3, 1, 3, 3, 0, 1, 5])


def define(body, *dtypes, share_rows=True, blocks="compiled"):
    options = rtf.Options(blocks=blocks, share_rows=share_rows)
    with rtf.SubGraph("f", executor="batched", options=options) as f:
        f.output(body(*(f.input(tf.TensorSpec([], dtype)) for dtype in dtypes)))
    return f


def shared_by(f, *rows):
    """Returns which share of the calls got another one's row."""
    explanation = rtf.explain(f)
    f.map(*rows)
    (share,) = explanation.shared.values()
    return share


def embed(node):
    """Looks up a word and multiplies it: what a leaf does."""
    return tf.tanh(tf.linalg.matvec(WEIGHTS, tf.gather(WORDS, node), transpose_a=True))


@pytest.mark.parametrize("name", CELLS)
def test_models_with_shared_leaves_are_those_without(name):
    forest = forest_of(name, 20)  # Of 30 words.
    encoders = [
        encoder_of(
            name,
            24,
            {
                "executor": "batched",
                "options": rtf.Options(blocks="compiled", share_rows=share_rows),
            },
        )
        for share_rows in (True, False)
    ]
    shared, alone = (values_and_gradients(each, forest) for each in encoders)
    np.testing.assert_array_equal(shared[0], alone[0])
    assert_equal(shared, alone)
    by_call = encoder_of(name, 24, {"executor": "dataflow"})
    assert_equal(shared, values_and_gradients(by_call, forest))


def test_equal_numbers_are_computed_once():
    f = define(embed, tf.int32)
    assert shared_by(f, NODES) == pytest.approx(3 / 7)
    assert_all_close(f.map(NODES), tf.tanh(tf.gather(WORDS, NODES) @ WEIGHTS))


def test_nothing_is_shared_where_nothing_is_equal():
    f = define(embed, tf.int32)
    assert shared_by(f, tf.range(6)) == 0


def test_what_is_computed_counts_and_not_what_is_given():
    f = define(lambda node: embed(tf.gather(tf.constant([2, 2, 4, 4]), node)), tf.int32)
    assert shared_by(f, tf.range(4)) == 0.5


def test_all_numbers_count():
    def body(a, b):
        return embed(a) + embed(b)

    f = define(body, tf.int32, tf.int32)
    a, b = tf.constant([1, 1, 1, 2, 1]), tf.constant([3, 4, 3, 3, 3])
    assert shared_by(f, a, b) == pytest.approx(2 / 5)
    tensorflow = define(body, tf.int32, tf.int32, blocks="tensorflow")
    assert_all_close(f.map(a, b), tensorflow.map(a, b))


def test_a_number_that_is_multiplied_counts():
    def body(a, b, c):
        return embed(a) * tf.cast(b, tf.float32) + tf.where(c, 1.0, 2.0)

    f = define(body, tf.int32, tf.int32, tf.bool)
    a, b = tf.constant([1, 1, 1, 2, 1]), tf.constant([3, 4, 3, 3, 3])
    c = tf.constant([True, True, False, True, True])
    assert shared_by(f, a, b, c) == pytest.approx(1 / 5)
    tensorflow = define(body, tf.int32, tf.int32, tf.bool, blocks="tensorflow")
    assert_all_close(f.map(a, b, c), tensorflow.map(a, b, c))


def test_a_number_that_is_returned_is_each_ones_own():
    f = define(lambda node: (embed(node * 0), node + 1), tf.int32)
    assert shared_by(f, NODES) == pytest.approx(3 / 7)
    np.testing.assert_array_equal(f.map(NODES)[1], NODES + 1)


def test_rows_of_floats_are_not_shared():
    f = define(lambda node, x: embed(node) * x, tf.int32, tf.float32)
    assert shared_by(f, tf.zeros([4], tf.int32), tf.ones([4])) == 0


def multiply(width, num_columns):
    """Returns a body that multiplies a word of that width with a matrix."""
    words, weights = tf.ones([6, width]), tf.ones([width, num_columns])
    return lambda node: tf.linalg.matvec(weights, tf.gather(words, node), True)


@pytest.mark.parametrize("share_rows", [True, "auto", False])
def test_cheap_blocks_are_shared_where_that_is_asked_for(share_rows):
    for body in (multiply(64, 127), lambda node: tf.tanh(tf.gather(WORDS, node))):
        f = define(body, tf.int32, share_rows=share_rows)
        assert (shared_by(f, NODES) > 0) == (share_rows is True)


@pytest.mark.parametrize("share_rows", [True, "auto", False])
def test_blocks_of_large_products_are_shared_by_default(share_rows):
    def two_products(node):
        return tf.concat([multiply(64, 100)(node), multiply(64, 50)(node)], 0)

    for body in (multiply(64, 128), two_products):
        f = define(body, tf.int32, share_rows=share_rows)
        assert (shared_by(f, NODES) > 0) == (share_rows is not False)


@pytest.mark.parametrize("share_rows", [True, "auto", False])
def test_wide_rows_that_are_looked_up_are_shared_by_default(share_rows):
    for width in (255, 256):
        words = tf.ones([6, width])
        body = lambda node, words=words: tf.tanh(tf.gather(words, node))  # noqa: E731
        f = define(body, tf.int32, share_rows=share_rows)
        is_shared = share_rows is True or (share_rows == "auto" and width == 256)
        assert (shared_by(f, NODES) > 0) == is_shared


def pairs_of_words(share_rows, executor="batched"):
    """Returns a SubGraph that multiplies two words side by side, and its variables."""
    draw = np.random.default_rng(2).normal
    words = tf.Variable(draw(size=(20, 256)), dtype=tf.float32)
    weights = tf.Variable(0.1 * draw(size=(512, 130)), dtype=tf.float32)
    options = rtf.Options(share_rows=share_rows)
    row = tf.TensorSpec([256], tf.float32)
    with rtf.SubGraph(
        "word", executor=executor, options=options, output_signature=row
    ) as word:
        word.output(tf.gather(words, word.input(tf.int32)))
    with rtf.SubGraph("pair", executor=executor, options=options) as pair:
        both = [word(pair.input(tf.int32)), word(pair.input(tf.int32))]
        pair.output(tf.tanh(tf.linalg.matvec(weights, tf.concat(both, 0), True)))
    return pair, [words, weights]


def value_and_gradients(pair, variables):
    left = tf.constant(np.random.default_rng(3).integers(20, size=100), tf.int32)
    with tf.GradientTape() as tape:
        value = pair.map(left, 19 - left)
        loss = tf.reduce_sum(value * tf.reshape(tf.range(100.0), [100, 1]))
    gradients = tape.gradient(loss, variables)
    return value, [tf.convert_to_tensor(g) for g in gradients]


def test_shared_rows_are_multiplied_once():
    once, each = (value_and_gradients(*pairs_of_words(s)) for s in ("auto", False))
    by_call = value_and_gradients(*pairs_of_words(False, executor="dataflow"))
    for other in (each, by_call):
        assert_all_close(once[0], other[0], rtol=1e-5, atol=1e-5)
        for found, expected in zip(once[1], other[1], strict=True):
            assert_all_close(found, expected, rtol=1e-4, atol=1e-3)
    # What two products give is added up, which rounds in another way than one product.
    assert np.any(once[0] != each[0])


def test_sharing_may_be_switched_off():
    assert shared_by(define(embed, tf.int32, share_rows=False), NODES) == 0


def test_functions_share_nothing():
    assert shared_by(define(embed, tf.int32, blocks="tensorflow"), NODES) == 0


@pytest.mark.parametrize("share_rows", [True, False])
def test_gradients_of_all_are_added_up(share_rows):
    words, weights = tf.Variable(WORDS), tf.Variable(WEIGHTS)

    def body(node):
        return tf.tanh(tf.linalg.matvec(weights, tf.gather(words, node), True))

    f = define(body, tf.int32, share_rows=share_rows)
    factors = tf.reshape(tf.range(21.0), [7, 3])
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(f.map(NODES) * factors)
        expected = tf.reduce_sum(tf.tanh(tf.gather(words, NODES) @ weights) * factors)
    for variable in (words, weights):
        found = tape.gradient(loss, variable)
        assert_all_close(
            tf.convert_to_tensor(found),
            tf.convert_to_tensor(tape.gradient(expected, variable)),
        )


def test_a_gradient_of_ones_own_is_of_each():
    """One that clips is another one of a sum."""

    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)

    words = tf.Variable(WORDS)

    def body(node):
        row = clipped(tf.gather(words, node))
        return tf.linalg.matvec(WEIGHTS, row, transpose_a=True)

    f = define(body, tf.int32, share_rows=True)
    assert shared_by(f, NODES) == 0
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(f.map(tf.zeros([4], tf.int32)) * 100.0)
    found = tf.convert_to_tensor(tape.gradient(loss, words))
    assert_all_close(found[0], 4.0 * tf.sign(tf.reduce_sum(WEIGHTS, 1)))


def test_gradients_of_gradients():
    words = tf.Variable(WORDS)

    def curvature(share_rows):
        f = define(
            lambda node: tf.linalg.matvec(WEIGHTS, tf.gather(words, node) ** 3, True),
            tf.int32,
            share_rows=share_rows,
        )
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(f.map(NODES) ** 2)
            first = tf.convert_to_tensor(inner.gradient(loss, words))
            loss = tf.reduce_sum(first**2)
        return tf.convert_to_tensor(outer.gradient(loss, words))

    assert_all_close(curvature(True), curvature(False), rtol=1e-4)


def test_shared_rows_are_pushed_by_all():
    with rtf.SubGraph(
        "f", executor="batched", options=rtf.Options(share_rows=True)
    ) as f:
        node = f.input(tf.int32)
        place = f.input(tf.int64)
        row = embed(node)
        f.push("rows", row, size=len(NODES), index=place)
        f.output(row)
    places = tf.range(7, dtype=tf.int64)
    assert shared_by(f, NODES, places) == pytest.approx(3 / 7)
    rows, pushed = f.map(NODES, places, with_pushed=True)
    np.testing.assert_array_equal(rows, pushed["rows"])


def test_a_lookup_out_of_range_is_refused_by_its_own_path():
    f = define(embed, tf.int32, share_rows=True)
    found = failure_of(lambda: f.map(tf.constant([2, 2, 9, 2])))
    assert "failed at f[row 2] in block 'f test_shared_rows.py" in found
    assert "indices[0] = 9" in found


def test_an_unknown_choice_is_refused():
    with pytest.raises(ValueError, match=r"share_rows='all': choose True, False or"):
        rtf.Options(share_rows="all")
