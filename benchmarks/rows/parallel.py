"""Whether independent calls run at once: a tree against a chain of the same work.

Both run `ACTIVATIONS` activations that cost `COST_US` each and are otherwise cheap: the
leaves of a full binary tree, and the levels of a chain. In the chain an expensive op
reads its child's result, so nothing can overlap; in the tree all can. The expensive op
is a product of two matrices on one thread (TensorFlow is told to use one in an op), its
rows chosen so that the chain takes `COST_US` a level more than with one row.

Just before and after every run a probe counts the cores that two threads are given.
Runs without both are not counted and done again.
"""

import time
from typing import NamedTuple

import tensorflow as tf

import recursive_tf as rtf
from benchmarks.cores import CORES, Guarded, run_with_both_cores
from benchmarks.effort import Effort
from benchmarks.figures import Figure, at_least
from benchmarks.fresh import in_fresh_process
from benchmarks.programs import COUNT, VALUE, Program
from benchmarks.timing import seconds_of

ACTIVATIONS = 512
COST_US = 100
# The weights stay in a core's cache, and a row is 1 to 3 us.
WIDTH = 256
CALIBRATION_ROWS = 64
# Of each run. A core that is away may come back within seconds.
ATTEMPTS = 100


class Run(NamedTuple):
    """Seconds of the chain and of the tree, and cores that each kept busy."""

    chain: float
    tree: float
    chain_cores: float
    tree_cores: float


def measure(effort: Effort) -> list[Figure]:
    """Returns how much faster the tree is, and what an activation cost."""
    activations = effort.pick(ACTIVATIONS, 32)
    guarded = in_fresh_process(_run, activations, effort)
    runs = guarded.runs
    return [
        Figure(
            f"tree of {activations} leaves against chain of {activations}",
            "times faster",
            [run.chain / run.tree for run in runs],
            at_least(1.7),
            str(guarded),
            guarded.had_both_cores,
        ),
        Figure(
            "an expensive activation, in the chain",
            "us",
            [1e6 * run.chain / activations for run in runs],
            note=f"made to cost {COST_US} us and a call",
        ),
        Figure("cores busy in the chain", "cores", [run.chain_cores for run in runs]),
        Figure("cores busy in the tree", "cores", [run.tree_cores for run in runs]),
    ]


def _run(activations: int, effort: Effort) -> Guarded:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(CORES)
    chain, tree = _make_chain(), _make_tree()
    # 2 ** depth leaves.
    depth = activations.bit_length() - 1
    rows = _calibrate(chain, activations)

    def both() -> Run:
        one = _time(chain, activations, rows)
        other = _time(tree, depth, rows)
        return Run(one[0], other[0], one[1], other[1])

    both()  # Traces, and touches memory first.
    return run_with_both_cores(both, effort.repeats, ATTEMPTS * effort.repeats)


def _calibrate(chain: Program, activations: int) -> int:
    """Returns the rows of a product of `COST_US`, from the fastest of a few chains."""
    _time(chain, activations, CALIBRATION_ROWS)
    few, many = (
        min(_time(chain, activations, rows)[0] for _ in range(5))
        for rows in (1, CALIBRATION_ROWS)
    )
    us_a_row = 1e6 * (many - few) / activations / (CALIBRATION_ROWS - 1)
    return max(1, round(COST_US / us_a_row))


def _time(program: Program, n: int, rows: int) -> tuple[float, float]:
    """Returns the seconds of a run, and the cores that it kept busy."""
    arguments = tf.constant(n), tf.constant(1.0), tf.constant(rows)
    cpu = time.process_time()
    seconds = seconds_of(lambda: program(*arguments).numpy())
    return seconds, (time.process_time() - cpu) / seconds


def _expensive(x: tf.Tensor, rows: tf.Tensor, mean: tf.Tensor) -> tf.Tensor:
    """Returns `x`, after a product that takes time in proportion to `rows`."""
    return tf.matmul(tf.fill([rows, WIDTH], x), mean)[0, 0]


def _mean() -> tf.Tensor:
    """Returns the matrix by which a row becomes its mean, in each column."""
    return tf.fill([WIDTH, WIDTH], 1 / WIDTH)


def _make_chain() -> Program:
    """Returns `n` expensive levels, each of the result of the one below."""

    @tf.function(input_signature=[COUNT, VALUE, COUNT])
    def run(n: tf.Tensor, x: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        mean = _mean()
        with rtf.SubGraph("chain", executor="dataflow") as chain:
            k = chain.input(tf.int32)
            chain.output(
                tf.cond(k < 1, lambda: x, lambda: _expensive(chain(k - 1), rows, mean))
            )
        return chain(n)

    return run


def _make_tree() -> Program:
    """Returns a full tree of depth `n`, expensive at its leaves."""

    @tf.function(input_signature=[COUNT, VALUE, COUNT])
    def run(n: tf.Tensor, x: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        mean = _mean()
        with rtf.SubGraph("tree", executor="dataflow") as tree:
            k = tree.input(tf.int32)
            tree.output(
                tf.cond(
                    k < 1,
                    lambda: _expensive(x, rows, mean),
                    lambda: tree(k - 1) + tree(k - 1),
                )
            )
        return tree(n)

    return run
