"""Programs that are batched, with a gradient that is not."""

import logging

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.powers import BOTH_WAYS

DEPTH = 3


def unknown(value):
    """Returns a variable of a size that is not known while a program is compiled."""
    return tf.Variable(value, shape=tf.TensorShape([None]))


def define(b, executor="auto", **more):
    """Returns x, n -> x * b ** n, whose gradient by `b` depends on its size."""
    with rtf.SubGraph("grow", executor=executor, **more) as grow:
        x, n = grow.input(tf.TensorSpec([3])), grow.input(tf.int32)
        y = tf.cond(n < 1, lambda: x, lambda: tf.ensure_shape(grow(x, n - 1) * b, [3]))
        grow.push("y", y, index=n, size=DEPTH + 1)
        grow.output(y)
    return grow


START = tf.constant([1.0, 2.0, 3.0])
VALUE = [0.5, 2.0, -1.0]
BY_B = DEPTH * START.numpy() * np.array(VALUE) ** (DEPTH - 1)


@pytest.fixture
def b():
    return unknown(VALUE)


@pytest.mark.falls_back("its gradient does")
@BOTH_WAYS
def test_the_gradient_is_that_of_the_dataflow_executor(way, b):
    grow = define(b)

    @way
    def step():
        with tf.GradientTape() as tape:
            y = grow(START, DEPTH)
        return y, tape.gradient(y, b)

    y, gradient = step()
    np.testing.assert_allclose(y, START * np.array(VALUE) ** DEPTH, rtol=1e-6)
    np.testing.assert_allclose(gradient, BY_B, rtol=1e-6)
    assert rtf.explain(grow).executor == "batched"


@pytest.mark.falls_back("its gradient does")
@BOTH_WAYS
def test_pushes_and_maps_have_it_too(way, b):
    def found(executor):
        grow = define(b, executor)

        @way
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y, pushed = grow.map(x, [DEPTH], with_pushed=True)
                loss = tf.reduce_sum(y**2) + tf.reduce_sum(pushed["y"] ** 3)
            return tape.gradient(loss, [x, b])

        return step(START[tf.newaxis])

    for one, other in zip(found("auto"), found("dataflow"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.falls_back("its gradient does")
def test_a_persistent_tape_gives_it_each_time(b):
    with tf.GradientTape(persistent=True) as tape:
        y = define(b)(START, DEPTH)
        total = tf.reduce_sum(2.0 * y)
    for _ in range(2):
        np.testing.assert_allclose(tape.gradient(y, b), BY_B, rtol=1e-6)
        np.testing.assert_allclose(tape.gradient(total, b), 2 * BY_B, rtol=1e-6)


@pytest.mark.falls_back("its gradient does")
def test_it_is_of_the_values_of_the_call(b):
    with tf.GradientTape() as tape:
        y = define(b)(START, DEPTH)
    b.assign([7.0, 7.0, 7.0])
    np.testing.assert_allclose(tape.gradient(y, b), BY_B, rtol=1e-6)


@pytest.mark.falls_back("its gradient does")
def test_random_numbers_are_those_of_the_call(b):
    with rtf.SubGraph("noisy") as noisy:
        x, n = noisy.input(tf.TensorSpec([3])), noisy.input(tf.int32)
        noise = tf.random.normal([3])
        own = tf.ensure_shape(x * b, [3]) * noise
        noisy.output(tf.cond(n < 1, lambda: own, lambda: noisy(x, n - 1) + own))
    with tf.GradientTape() as tape:
        y = noisy(START, DEPTH)
    # It is linear in b.
    gradient = tape.gradient(y, b)
    np.testing.assert_allclose(gradient * b, y, rtol=1e-5)


@pytest.mark.falls_back("its gradient does")
@BOTH_WAYS
def test_gradients_may_be_differentiated_again(way, b):
    grow = define(b)

    @way
    def step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = grow(START, DEPTH)
            first = tape.gradient(y, b)
        return outer.gradient(first, b)

    expected = DEPTH * (DEPTH - 1) * START * np.array(VALUE)
    np.testing.assert_allclose(step(), expected, rtol=1e-5)


@pytest.mark.falls_back("its gradient does")
def test_a_loaded_model_has_it(b, tmp_path):
    module = tf.Module()
    module.b, module.grow = b, define(b)
    specs = [tf.TensorSpec([3]), tf.TensorSpec([], tf.int32)]
    module.call = tf.function(lambda x, n: module.grow(x, n), input_signature=specs)
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(module, str(tmp_path), options=options)
    loaded = tf.saved_model.load(str(tmp_path))
    with tf.GradientTape() as tape:
        y = loaded.call(START, DEPTH)
    np.testing.assert_allclose(tape.gradient(y, loaded.b), BY_B, rtol=1e-6)


def test_whoever_asks_for_the_batched_executor_is_told(b):
    grow = define(b, "batched")

    @tf.function
    def step():
        return tf.gradients(grow(START, DEPTH), b)

    np.testing.assert_allclose(grow(START, 0), START)
    with pytest.raises(rtf.SubGraphError, match="gradient of SubGraph 'grow' cannot"):
        step()


@pytest.mark.falls_back("its gradient does")
def test_it_is_logged_once_a_program(b, caplog):
    grow = define(b)
    with caplog.at_level(logging.WARNING):
        for way in (lambda f: f, tf.function):
            with tf.GradientTape() as tape:
                y = way(lambda: grow(START, DEPTH))()
            tape.gradient(y, b)
    (record,) = caplog.records
    assert "The gradient of SubGraph 'grow' falls back" in record.getMessage()


@pytest.mark.falls_back("its gradient does")
def test_a_function_that_takes_it_is_explained(b):
    grow = define(b)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = grow(START, DEPTH)
        return tape.gradient(y, b)

    step()
    text = str(rtf.explain(step))
    assert "batched executor" in text
    assert "Its gradient is not batched" in text
