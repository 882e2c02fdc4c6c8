"""What a network computes in its block, and what in its prologue."""

import pytest
import tensorflow as tf

from recursive_tf.python.batching.vectorize import networks
from tests.batching.interpreter import compilation_of
from tests.batching.rows import define_body

pytestmark = pytest.mark.traces_only

STEPS, UNITS = 40, 3
KERNEL = tf.Variable(tf.random.stateless_normal([UNITS, UNITS], [1, 2]))


def gated(by_kernel):
    """Returns a body: of each step a gate that follows from the kernel alone."""

    def body(x):
        for step in range(1, STEPS + 1):
            gate = tf.sigmoid(tf.sin(step * KERNEL[0]))
            x += gate * (tf.tanh(by_kernel(x)) - x)
        return x

    return body


def types_from_prologue(body, spec):
    """Returns the types of the ops whose outputs the blocks take of the prologue."""
    compilation = compilation_of(define_body(body, spec))
    return {tensor.op.type for tensor in compilation.outputs.tensors}


def test_a_network_of_matrices_takes_weights_alone():
    body = gated(lambda x: x @ KERNEL)
    assert types_from_prologue(body, tf.TensorSpec([2, UNITS])) == {"Placeholder"}


def test_one_of_rows_that_may_be_a_block_program_takes_what_follows():
    body = gated(lambda x: tf.linalg.matvec(KERNEL, x))
    assert "Sigmoid" in types_from_prologue(body, tf.TensorSpec([UNITS]))
    body = gated(lambda x: x @ KERNEL)
    assert "Sigmoid" in types_from_prologue(body, tf.TensorSpec([1, UNITS]))


def test_so_does_a_small_one(monkeypatch):
    monkeypatch.setattr(networks, "_LEAST_OPS", 1000)
    body = gated(lambda x: x @ KERNEL)
    assert "Sigmoid" in types_from_prologue(body, tf.TensorSpec([2, UNITS]))


def test_what_takes_long_stays_in_the_prologue():
    def body(x):
        square, total = KERNEL @ KERNEL, tf.cumsum(KERNEL[0])
        for _ in range(STEPS):
            x = tf.tanh(tf.exp(x @ square) * tf.abs(total * KERNEL[0]) + 1.0) - x
        return x

    found = types_from_prologue(body, tf.TensorSpec([2, UNITS]))
    assert {"Cumsum", "MatMul"} <= found
    assert not found & {"Abs", "Mul"}


def test_what_is_large_does_too(monkeypatch):
    monkeypatch.setattr(networks, "_MOST_NUMBERS", UNITS - 1)
    body = gated(lambda x: x @ KERNEL)
    assert "Sigmoid" in types_from_prologue(body, tf.TensorSpec([2, UNITS]))


def test_what_has_a_gradient_of_its_own_does_too():
    @tf.custom_gradient
    def halved(x):
        return tf.sin(x), lambda dy: dy / 2

    def body(x):
        gate = halved(KERNEL[0])
        for _ in range(STEPS):
            x = tf.tanh(tf.exp(x @ KERNEL) * tf.abs(gate * KERNEL[0]) + 1.0) - x
        return x

    found = types_from_prologue(body, tf.TensorSpec([2, UNITS]))
    assert found & {"IdentityN", "Sin"}
    assert not found & {"Abs", "Mul"}
