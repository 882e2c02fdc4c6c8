"""What a body returns is checked against its signature, and what siblings showed."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.values import Pair


def pasted_signature(message):
    """Returns the value of the `output_signature=` that a message says to pass."""
    (line,) = re.findall(r"output_signature=(.*)$", message, re.MULTILINE)
    return eval(line, {"tf": tf, "Pair": Pair})


def define_growing(output_signature=None):
    """Returns a SubGraph whose base case has a shape that the rest has not."""
    with rtf.SubGraph("grow", output_signature=output_signature) as grow:
        n = grow.input(tf.int32)
        more = lambda: tf.concat([grow(n - 1), [n]], 0)  # noqa: E731
        grow.output(tf.cond(n < 1, lambda: tf.zeros([0], tf.int32), more))
    return grow


def test_a_shape_that_a_sibling_shows_wrongly_is_an_error():
    message = message_of(define_growing)
    assert "SubGraph 'grow' returns int32[?]" in message
    assert "took from a sibling branch that it returns int32[0]" in message


@pytest.mark.falls_back("an unknown shape")
def test_the_line_in_the_error_is_python_that_mends_it():
    signature = pasted_signature(message_of(define_growing))
    assert define_growing(signature)(4).numpy().tolist() == [1, 2, 3, 4]


def define_structured(output_signature=None):
    """Returns a SubGraph that returns its base case in a structure."""
    with rtf.SubGraph("f", output_signature=output_signature) as f:
        n = f.input(tf.int32)
        state = tf.cond(n < 1, lambda: tf.ones([2]), lambda: leaf_of(f(n - 1)))
        f.output({"pair": Pair(state, (n,)), "all": [n, n > 0]})
    return f


def leaf_of(structure):
    return structure["pair"].left if isinstance(structure, dict) else structure


def test_a_structure_that_a_sibling_shows_wrongly_is_an_error():
    message = message_of(define_structured)
    assert "returns {pair: (float32[2], (int32[])), all: (int32[], bool[])}" in message


def test_the_line_for_a_structure_is_python_that_mends_it():
    signature = pasted_signature(message_of(define_structured))
    assert define_structured(signature)(3)["pair"].left.numpy().tolist() == [1, 1]


def test_a_dtype_unlike_the_signature_is_an_error():
    def define():
        with rtf.SubGraph("f", output_signature=tf.float32) as f:
            f.output(f.input(tf.int32))

    message = message_of(define)
    assert "SubGraph 'f' returns int32[], but its output_signature says" in message


def test_a_shape_may_be_more_special_than_the_signature():
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([None])) as f:
        f.output(tf.zeros([3]))
    assert f().shape == [3]


def test_a_shape_more_general_than_the_signature_is_an_error():
    def define():
        with rtf.SubGraph("f", output_signature=tf.TensorSpec([3])) as f:
            f.output(f.input(tf.float32, [None]))

    assert pasted_signature(message_of(define)) == tf.TensorSpec([None], tf.float32)


def test_a_signature_may_be_a_structure_of_dtypes():
    with rtf.SubGraph("f", output_signature=(tf.int32, {"x": tf.float32})) as f:
        n = f.input(tf.int32)
        f.output(n, {"x": 0.5})
    assert repr(f) == "<SubGraph 'f' (int32[]) -> (int32[], {x: float32[]})>"
