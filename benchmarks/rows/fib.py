"""What one call costs where most of the work is calling.

fib(20) is 21,891 calls; the body compares, subtracts twice and adds. A call of the
`tf.function` around it costs 0.1 to 0.3 ms, 0.02 us for each of these, and is not
subtracted. The result is fetched within the clock. Each run comes after one that is
not timed.
"""

import tensorflow as tf

from benchmarks.effort import Effort
from benchmarks.figures import Figure, at_most
from benchmarks.fresh import in_fresh_process
from benchmarks.programs import (
    fib_calls,
    make_fib,
    make_fib_of_values,
    with_gradient,
)
from benchmarks.timing import run_in_turn, warm_seconds_of


def measure(effort: Effort) -> list[Figure]:
    """Returns us a call of inference, and of forward and backward together."""
    n = effort.pick(20, 8)
    runs = in_fresh_process(_run, n, effort)
    note = f"{fib_calls(n)} calls a run"
    return [
        Figure(
            f"fib({n}), inference", "us a call", runs["inference"], at_most(2.5), note
        ),
        Figure(
            f"fib({n}) of floats, forward + gradient",
            "us a call",
            runs["training"],
            note=f"{note}, and as many backward",
        ),
    ]


def _run(n: int, effort: Effort) -> dict[str, list[float]]:
    """Returns us a call of each run."""
    fib, gradient = make_fib(), with_gradient(make_fib_of_values())
    count, one = tf.constant(n), tf.constant(1.0)
    # Traces, touches memory first; and a speed of wrong results is none.
    assert float(fib(count)) == float(gradient(count, one))
    us = 1e6 / fib_calls(n)
    return run_in_turn(
        {
            "inference": lambda: us * warm_seconds_of(lambda: fib(count).numpy()),
            "training": lambda: (
                us * warm_seconds_of(lambda: gradient(count, one).numpy())
            ),
        },
        effort.repeats,
        "fib",
    )
