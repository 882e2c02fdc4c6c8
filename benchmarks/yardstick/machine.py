"""What the machine could do: products, copies, calls.

    python -m benchmarks.yardstick.machine
    python -m benchmarks.yardstick.machine --quick   # only shows that it runs

Prints one line of JSON. It is measured in a process of its own, right before a session.
"""

from __future__ import annotations

import concurrent.futures
import functools
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.effort import Effort
from benchmarks.timing import seconds_of

ROWS = (1, 10, 25, 64, 256, 1024, 4096)
# What a row is multiplied with: a TreeLSTM's inner nodes, and a Tree-FC's.
MATRICES = {"treelstm": (300, 750), "treefc": (1024, 512)}
FULL, QUICK = Effort(repeats=7), Effort(repeats=1, quick=True)
COPIED_BYTES = 256 << 20
QUICK_COPIED_BYTES = 1 << 20
LEAST_SECONDS = 0.02


def measure(effort: Effort = FULL) -> dict[str, Any]:
    """Returns rates and costs, the best of some runs: they are limits.

    - "gemm": operations a second of float32 products, by matrix and number of rows,
      by TensorFlow's own kernels on all threads; "gemm_peak" is the best of them.
    - "copy": bytes a second that are read and written by a copy of 256 MB.
    - "call_s": seconds of a `tf.function` that adds two scalars.
    - "launch_s": seconds of one launch of one row: those that a chain of calls takes
      for each of them, in the batched executor.
    """
    gemm = {
        name: {
            str(rows): _gemm_rate(effort, rows, *shape)
            for rows in effort.pick(ROWS, ROWS[:1])
        }
        for name, shape in MATRICES.items()
    }
    return {
        "gemm": gemm,
        "gemm_peak": max(max(rates.values()) for rates in gemm.values()),
        "copy": _copy_rate(effort),
        "call_s": _call_seconds(effort),
        "launch_s": _launch_seconds(effort),
    }


def _seconds_each(effort: Effort, work: Callable[[], object]) -> float:
    """Returns the least time of `work`, each run as many times as take a while."""
    work()
    least = effort.pick(LEAST_SECONDS, 0.0)
    times = max(1, int(least / max(seconds_of(work), 1e-7)))
    return min(
        seconds_of(lambda: [work() for _ in range(times)]) / times
        for _ in range(effort.repeats)
    )


def _gemm_rate(effort: Effort, rows: int, k: int, n: int) -> float:
    """Returns operations a second of [rows, k] x [k, n], 20 products a call."""
    products = 20
    a = tf.random.normal([products, rows, k])
    b = tf.random.normal([k, n])

    @tf.function
    def multiply() -> tf.Tensor:
        return tf.stack([tf.matmul(a[i], b)[0, 0] for i in range(products)])

    seconds = _seconds_each(effort, lambda: multiply().numpy())
    return 2 * products * rows * k * n / seconds


def _copy_rate(effort: Effort) -> float:
    """Copies on as many threads as there are processors; NumPy lets go of the lock."""
    threads = len(os.sched_getaffinity(0))
    size = effort.pick(COPIED_BYTES, QUICK_COPIED_BYTES)
    shape = [threads, size // 4 // threads]
    source, target = np.ones(shape, np.float32), np.zeros(shape, np.float32)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        copy = lambda: list(pool.map(np.copyto, target, source))  # noqa: E731
        seconds = _seconds_each(effort, copy)
    return 2 * size / seconds


def _call_seconds(effort: Effort) -> float:
    add = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([])])
    x = tf.constant(1.0)
    return _seconds_each(effort, lambda: add(x).numpy())


def _launch_seconds(effort: Effort) -> float:
    """Returns what one more level of a chain of calls takes, which has two launches."""
    depths = (200, 1200)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def run(n: tf.Tensor) -> tf.Tensor:
        with rtf.SubGraph("chain", executor="batched") as chain:
            k = chain.input(tf.int32)
            chain.output(tf.cond(k < 1, lambda: 1.0, lambda: chain(k - 1) * 0.5))
        return chain(n)

    short, long = (
        _seconds_each(effort, functools.partial(run, tf.constant(depth)))
        for depth in depths
    )
    return (long - short) / (depths[1] - depths[0]) / 2


if __name__ == "__main__":
    print(json.dumps(measure(QUICK if "--quick" in sys.argv[1:] else FULL)))
