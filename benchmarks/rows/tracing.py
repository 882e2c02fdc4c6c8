"""How long a user waits before the first result: tracing and the first call.

The TreeLSTM is that of the models with the sizes of the Stanford Sentiment Treebank, on
one tree of 19 words, in a fresh process, after imports and with its variables made.

Bodies with many call sites show whether tracing grows with their number or faster: the
time of one more call site between 25 and 100, by that between 1 and 25. All are traced
in one process, in turn, each time anew, after one that is not counted.
"""

import functools
import gc
import statistics
from collections.abc import Callable

import tensorflow as tf

from benchmarks.effort import Effort
from benchmarks.figures import Figure, at_most
from benchmarks.fresh import in_fresh_process
from benchmarks.programs import Program, make_wide, with_gradient
from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.treelstm_model import make_steps, random_trees

# The first, the middle and the last are those of the ratio.
CALL_SITES = (1, 10, 25, 50, 100)
QUICK_CALL_SITES = (1, 2, 4, 6, 8)
WORDS = 19


def measure(effort: Effort) -> list[Figure]:
    """Returns seconds until the first result, and how they grow with call sites."""
    kinds = ("inference", "training")
    runs = run_in_turn(
        {
            kind: functools.partial(in_fresh_process, _first_step, kind)
            for kind in kinds
        },
        effort.repeats,
        "tracing, TreeLSTM",
    )
    first = [
        Figure(f"TreeLSTM, tracing + first {kind} step", "s", runs[kind], at_most(2))
        for kind in kinds
    ]
    return [
        *first,
        *_of_call_sites("forward", False, effort),
        *_of_call_sites("forward + gradient", True, effort),
    ]


def _first_step(kind: str) -> float:
    step = make_steps()[kind]
    tree = random_trees(1, WORDS)
    return seconds_of(lambda: step(tree))


def _of_call_sites(what: str, training: bool, effort: Effort) -> list[Figure]:
    sites = effort.pick(CALL_SITES, QUICK_CALL_SITES)
    runs = in_fresh_process(_trace_all, sites, training, effort)
    figures = [
        Figure(f"{n} call sites, tracing + first call, {what}", "s", runs[str(n)])
        for n in sites
    ]
    return [*figures, _linearity(what, sites, runs)]


def _linearity(
    what: str, sites: tuple[int, ...], runs: dict[str, list[float]]
) -> Figure:
    """Returns the time of a call site in large bodies by that in small ones."""
    low, middle, high = sites[0], sites[2], sites[-1]
    few, some, many = (statistics.median(runs[str(n)]) for n in (low, middle, high))
    ratio = ((many - some) / (high - middle)) / ((some - few) / (middle - low))
    return Figure(
        f"a call site, {middle} to {high} by {low} to {middle}, {what}",
        "ratio",
        [ratio],
        at_most(1.5),
        "of the medians; 1 is linear",
    )


def _trace_all(
    sites: tuple[int, ...], training: bool, effort: Effort
) -> dict[str, list[float]]:
    _trace(sites[0], training)
    programs: dict[str, Callable[[], float]] = {
        str(n): functools.partial(_trace, n, training) for n in sites
    }
    label = "tracing, " + ("forward + gradient" if training else "forward")
    return run_in_turn(programs, effort.repeats, label)


def _trace(call_sites: int, training: bool) -> float:
    """Returns the seconds until the first result of a new program."""
    gc.collect()  # The programs before are no cost of this one.
    program: Program = make_wide(call_sites)
    program = with_gradient(program) if training else program
    arguments = tf.constant(1), tf.constant(1.0)
    # By way of the concrete function: TensorFlow warns of a program that is traced at
    # each of its calls, which is what is measured.
    return seconds_of(lambda: program.get_concrete_function()(*arguments).numpy())
