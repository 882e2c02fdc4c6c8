"""A gradient of a gradient is refused, however it is asked for."""

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers.powers import BOTH_WAYS, BY_X, N, power

pytestmark = pytest.mark.every_executor


def slope_of_slope(f, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    return outer.gradient(slope, x)


SECOND_ORDER = r"gradient of a gradient of SubGraph 'power' is not supported"


def test_a_gradient_of_a_gradient_is_refused_eagerly(w, x):
    f = power(w)
    with pytest.raises(NotImplementedError, match=SECOND_ORDER):
        slope_of_slope(lambda x: f(x, N), x)


def test_a_gradient_of_a_gradient_is_refused_in_a_function(w, x):
    f = power(w)
    with pytest.raises(NotImplementedError, match=SECOND_ORDER):
        tf.function(lambda x: slope_of_slope(lambda x: f(x, N), x))(x)


def test_a_gradient_of_a_gradient_is_refused_outside_of_a_function(w, x):
    call = tf.function(lambda x: power(w)(x, N))
    with pytest.raises(NotImplementedError, match=SECOND_ORDER):
        slope_of_slope(call, x)


def test_a_gradient_of_a_gradient_is_refused_where_the_subgraph_is_defined(w, x):
    with pytest.raises(NotImplementedError, match=SECOND_ORDER):
        slope_of_slope(lambda x: power(w)(x, N), x)


def slope_by_a_weight(f, x, w):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, N)
        slope = inner.gradient(y, x)
    return outer.gradient(slope, w)


@BOTH_WAYS
def test_a_gradient_of_a_gradient_by_a_weight_is_refused(way, w, x):
    f = power(w)
    with pytest.raises(NotImplementedError, match=SECOND_ORDER):
        way(lambda x: slope_by_a_weight(f, x, w))(x)


@pytest.mark.filterwarnings("ignore:Calling GradientTape.gradient on a persistent")
@BOTH_WAYS
def test_a_gradient_of_a_gradient_from_a_persistent_tape_is_refused(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x, N)
            slope = tape.gradient(y, x)
        return tape.gradient(slope, x)

    with pytest.raises(NotImplementedError, match=SECOND_ORDER):
        step(x)


def test_tf_gradients_of_tf_gradients_are_refused(w, x):
    @tf.function
    def step(x):
        return tf.gradients(tf.gradients(power(w)(x, N), x), x)

    with pytest.raises(NotImplementedError, match=SECOND_ORDER):
        step(x)


@BOTH_WAYS
def test_a_first_gradient_may_be_taken_while_an_outer_tape_does_not_record(way, w, x):
    f = power(w)

    @way
    def step(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x, N)
            with outer.stop_recording():
                slope = inner.gradient(y, x)
            z = y * slope
        return outer.gradient(z, x)

    np.testing.assert_allclose(step(x), BY_X**2, rtol=1e-5)
