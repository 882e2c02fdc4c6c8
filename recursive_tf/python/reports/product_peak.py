"""How close products of block programs come to what the machine could do."""

import functools
from collections.abc import Iterable

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.reports.watch import Run


def share_of_peak(runs: Iterable[Run], block: int) -> float | None:
    """Returns which share of its time a block would take if it was products at peak.

    Args:
        runs: The passes of one run.
        block: The number of the block.

    Returns:
        The share, at most about 1; None for a block without products, for one that did
        not run as a block program, and if nobody watched.
    """
    seconds, at_peak = 0.0, 0.0
    for run in runs:
        if not run.product_seconds:
            continue
        seconds += run.product_seconds[block]
        for dtype, count in zip(
            (tf.float32, tf.float64), run.flops[block], strict=True
        ):
            at_peak += count / peak_flops(dtype) if count else 0.0
    return at_peak / seconds if at_peak and seconds else None


@functools.cache
def peak_flops(dtype: tf.DType) -> float:
    """Returns the most operations a second that products reach on all threads.

    It is measured once a process: some tens of milliseconds for each dtype.
    """
    with tf.init_scope(), tf.device("CPU:0"):
        return float(library.recursive_product_peak(T=dtype))
