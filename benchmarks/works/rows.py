"""Parts of flat arrays: each has rows that stand together."""

from __future__ import annotations

import numpy as np


def starts(sizes: np.ndarray) -> np.ndarray:
    """Returns the first row of each part, int64[num_parts].

    >>> starts(np.array([2, 1, 3]))
    array([0, 2, 3])
    """
    return np.cumsum(sizes, dtype=np.int64) - sizes


def rows_of(first: np.ndarray, sizes: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Returns the rows of some parts, which have a first row and a size each.

    >>> rows_of(np.array([0, 2, 3]), np.array([2, 1, 3]), np.array([2, 0]))
    array([3, 4, 5, 0, 1])

    Args:
        first: int64[num_parts].
        sizes: int[num_parts].
        parts: int[num_chosen]: their numbers, at least one.
    """
    chosen = sizes[parts].astype(np.int64)
    ends = np.cumsum(chosen)
    return np.repeat(first[parts] - (ends - chosen), chosen) + np.arange(ends[-1])
