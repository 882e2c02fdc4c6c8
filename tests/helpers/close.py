"""Numbers that two ways to compute the same may differ in."""

import numpy as np
import tensorflow as tf


def assert_all_close(found, expected, rtol=1e-5, atol=1e-6):
    """Checks that two structures hold the same numbers, up to rounding.

    Args:
        found: Tensors, arrays, `tf.IndexedSlices`, which stand for what they add up to.
        expected: The same.
        rtol: Of each element.
        atol: The same.
    """
    pairs = zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True)
    for place, (one, other) in enumerate(pairs):
        one, other = map(tf.convert_to_tensor, (one, other))
        message = f"number {place}"
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=message)
