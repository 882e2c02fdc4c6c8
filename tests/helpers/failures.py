"""What failing calls say."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf


def message_of(call, error=rtf.SubGraphError):
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


def failure_of(call, error=tf.errors.InvalidArgumentError):
    """Returns what a failing root call says about the invocation."""
    (line,) = re.findall(r"SubGraph '.*", message_of(call, error))
    return line
