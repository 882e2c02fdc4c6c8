"""What tests of vertex functions share."""

import pytest
import tensorflow as tf


@pytest.fixture(params=["eager", "traced", "plain"])
def way(request):
    """How a call is made: eagerly, in a tf.function, or as plain Python."""
    tf.config.run_functions_eagerly(request.param == "plain")
    yield tf.function if request.param == "traced" else lambda f: f
    tf.config.run_functions_eagerly(False)
