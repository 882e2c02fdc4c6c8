"""What gradients are asked for, of two elements each."""

import pytest
import tensorflow as tf


@pytest.fixture
def w():
    return tf.Variable([0.5, -1.5])


@pytest.fixture
def x():
    return tf.constant([0.8, 1.2])
