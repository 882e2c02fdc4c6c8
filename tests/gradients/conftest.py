"""What tests of gradients share."""

import pytest
import tensorflow as tf

from tests.helpers.powers import W, X


@pytest.fixture
def w():
    return tf.Variable(W)


@pytest.fixture
def x():
    return tf.constant(X)
