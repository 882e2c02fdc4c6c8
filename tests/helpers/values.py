"""Values and structures that tests pass."""

from typing import NamedTuple

import tensorflow as tf

VALUES = {
    tf.bool: True,
    tf.uint8: 200,
    tf.int32: -7,
    tf.int64: 2**40,
    tf.float16: 0.5,
    tf.bfloat16: 0.25,
    tf.float32: 1.5,
    tf.float64: 1e300,
    tf.complex64: 1 + 2j,
    tf.complex128: 3 - 4j,
    tf.string: b"tree",
}


class Pair(NamedTuple):
    left: tf.Tensor
    right: tf.Tensor


def as_numpy(structure):
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), structure)
