"""Slopes by central differences, for gradients to be held against."""

import numpy as np


def central_differences(loss, array, step=1e-5):
    """Returns how loss() changes with each element of an array.

    Args:
        loss: Returns a number, or an array, whose axes come first in the result.
        array: What it depends on. Changed in place, and put back.
        step: By how much.
    """
    slopes = []
    for at in np.ndindex(array.shape):
        kept = array[at]
        array[at] = kept + step
        above = loss()
        array[at] = kept - step
        slopes.append((above - loss()) / (2 * step))
        array[at] = kept
    return np.stack(slopes, -1).reshape([*np.shape(slopes[0]), *array.shape])
