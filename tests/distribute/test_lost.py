"""What is said of a process that is gone, by what TensorFlow says of it."""

import pytest
import tensorflow as tf

from recursive_tf.distribute.lost import lost_error


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "UnavailableError"),
        ("Connection reset\nmore", "Connection reset"),
        ("\nmore", "UnavailableError"),
    ],
)
def test_where_nobody_is_named_tensorflow_has_its_say(message, said):
    error = tf.errors.UnavailableError(None, None, message)
    text = str(lost_error(error, "worker:0", "worker:0"))
    assert text.endswith(f"TensorFlow says: {said}")
    assert "\n" not in text


def test_the_one_that_leads_is_named_where_nobody_is():
    error = tf.errors.UnavailableError(None, None, "")
    text = str(lost_error(error, "worker:1", "worker:0"))
    assert text.startswith("worker:1 has lost worker:0, which has ended")
