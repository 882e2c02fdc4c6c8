"""The gradient of a result comes from outside: it must be like the result."""

import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor

LEFT, RIGHT = tf.constant([-1, -1, -1, 0, 3]), tf.constant([-1, -1, -1, 1, 2])
UNLIKE = {
    "too few rows": tf.ones([1, 4]),
    "no rows": tf.ones([0, 4]),
    "too many rows": tf.ones([6, 4]),
    "too narrow": tf.ones([5, 1]),
    "half as narrow": tf.ones([5, 2]),
    "one row": tf.ones([4]),
    "a scalar": tf.ones([]),
}


@pytest.fixture
def w():
    return tf.Variable(tf.eye(4))


def tree(w, pushes=False):
    """Returns a SubGraph of nodes with [4] numbers each, which they may push."""
    with rtf.SubGraph("net", output_signature=tf.TensorSpec([4])) as f:
        n = f.input(tf.int32)

        def inner():
            children = f(tf.gather(LEFT, n)) + f(tf.gather(RIGHT, n))
            return tf.tanh(tf.linalg.matvec(w, children))

        h = tf.cond(tf.gather(LEFT, n) < 0, lambda: w[0], inner)
        if pushes:
            f.push("h", h, index=n, size=5)
        f.output(h)
    return f


def outputs_of(f):
    return f.map(tf.constant([4, 3, 2, 1, 0]))


def table_of(f):
    return f(4, with_pushed=True)[1]["h"]


def slope(f, w, of, gradient):
    with tf.GradientTape() as tape:
        y = of(f)
    return tape.gradient(y, w, output_gradients=gradient)


def eagerly(f, w, of, gradient):
    return slope(f, w, of, gradient)


def in_a_function(f, w, of, gradient):
    return tf.function(lambda dy: slope(f, w, of, dy))(gradient)


def of_unknown_shape(f, w, of, gradient):
    unknown = tf.TensorSpec(None, gradient.dtype)
    run = tf.function(lambda dy: slope(f, w, of, dy), input_signature=[unknown])
    return run(gradient)


WAYS = pytest.mark.parametrize("way", [eagerly, in_a_function, of_unknown_shape])


@WAYS
@pytest.mark.parametrize("unlike", UNLIKE)
def test_a_gradient_unlike_the_output_is_an_error_with_both(w, way, unlike):
    expected = r"SubGraph 'net': output 0 has .* float .* \[5,4\], but its gradient"
    with pytest.raises(tf.errors.InvalidArgumentError, match=expected):
        way(tree(w), w, outputs_of, UNLIKE[unlike])


@WAYS
@pytest.mark.parametrize("unlike", UNLIKE)
def test_a_gradient_unlike_the_table_is_an_error_with_both(w, way, unlike):
    expected = r"'net': the table of push 'h' has .* float .* \[5,4\], but its"
    with pytest.raises(tf.errors.InvalidArgumentError, match=expected):
        way(tree(w, pushes=True), w, table_of, UNLIKE[unlike])


@pytest.mark.parametrize("way", [in_a_function, of_unknown_shape])
@pytest.mark.parametrize("of", [outputs_of, table_of])
def test_a_gradient_of_another_dtype_is_an_error_with_both(w, way, of):
    f = tree(w, pushes=of is table_of)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"float .* dtype double"):
        way(f, w, of, tf.ones([5, 4], tf.float64))


def test_tensorflow_takes_no_gradient_of_another_dtype_eagerly(w):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"float .* double"):
        eagerly(tree(w), w, outputs_of, tf.ones([5, 4], tf.float64))


@pytest.mark.parametrize("gradient", [tf.ones([]), tf.ones([1, 4]), tf.ones([5])])
def test_a_gradient_unlike_the_one_output_of_a_call_is_an_error(w, gradient):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[4\], but its"):
        slope(tree(w), w, lambda f: f(4), gradient)


@pytest.mark.parametrize("of", [outputs_of, table_of])
def test_slices_of_a_gradient_are_a_gradient(w, of):
    f = tree(w, pushes=of is table_of)
    rows = tf.IndexedSlices(tf.ones([2, 4]), tf.constant([4, 0]), tf.constant([5, 4]))
    dense = tf.convert_to_tensor(rows)
    expected = slope(f, w, of, dense)
    with tf.GradientTape() as tape:
        y = tf.gather(of(f), [4, 0])
    tf.debugging.assert_near(tape.gradient(y, w), tf.convert_to_tensor(expected))


def test_gradients_of_gradients_are_checked_too(w):
    f = tree(w)
    with tf.GradientTape() as outer:
        g = slope(f, w, outputs_of, tf.ones([5, 4]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        outer.gradient(g, w, output_gradients=tf.ones([3, 3]))


def test_a_map_over_no_rows_takes_a_gradient_of_none(w):
    f = tree(w)
    found = slope(f, w, lambda f: f.map(tf.zeros([0], tf.int32)), tf.ones([0, 4]))
    assert not tf.math.count_nonzero(found)


def test_a_map_over_no_rows_takes_no_gradient_of_rows(w):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[0,4\], but its"):
        slope(tree(w), w, lambda f: f.map(tf.zeros([0], tf.int32)), tf.ones([1, 4]))


def test_a_look_up_in_results_hands_on_slices(w):
    f = tree(w)

    @tf.function
    def step():
        return tf.reduce_sum(tf.gather(outputs_of(f), [0, 2, 0]) ** 2)

    with tf.GradientTape() as tape:
        loss = step()
    found = tape.gradient(loss, w)
    with tf.GradientTape() as tape:
        y = outputs_of(f)
        loss = 2 * tf.reduce_sum(y[0] ** 2) + tf.reduce_sum(y[2] ** 2)
    tf.debugging.assert_near(found, tape.gradient(loss, w))
