"""A step of each optimizer on an embedding of which some rows were looked up.

    python -m benchmarks.optimizers
    python -m benchmarks.optimizers --vocabulary 400000

The gradients of a TreeLSTM on the Stanford Sentiment Treebank, batch 25: some 480
look-ups in a table of 18,278 rows of 300, and dense gradients of its weights. Keras's
optimizers, which walk over the table, and those of `recursive_tf.optimizers` take steps
in turn.
"""

import argparse
from collections.abc import Callable, Sequence

import keras
import numpy as np
import tensorflow as tf

from benchmarks import table
from benchmarks.cores import use_two_cores
from benchmarks.figures import Figure, at_least
from benchmarks.timing import run_in_turn, seconds_of
from recursive_tf.optimizers import LazyAdam, SparseAdagrad

EMBEDDING, HIDDEN, LOOKUPS = 300, 150, 480
WEIGHTS = ([EMBEDDING, 3 * HIDDEN], [2 * HIDDEN, 5 * HIDDEN], [HIDDEN, 5])
PAIRS = {
    "AdaGrad": (keras.optimizers.Adagrad, SparseAdagrad),
    "Adam": (keras.optimizers.Adam, LazyAdam),
}
STEPS = 10


def make_step(
    optimizer: keras.optimizers.Optimizer, vocabulary: int
) -> Callable[[], float]:
    """Returns what takes some steps, and says how many milliseconds one took."""
    rng = np.random.default_rng(0)
    variables = [
        keras.Variable(rng.normal(size=shape), dtype="float32")
        for shape in ([vocabulary, EMBEDDING], *WEIGHTS)
    ]
    optimizer.build(variables)
    dense = [tf.constant(rng.normal(size=s), tf.float32) for s in WEIGHTS]
    slices = tf.IndexedSlices(
        tf.constant(rng.normal(size=[LOOKUPS, EMBEDDING]), tf.float32),
        tf.constant(rng.integers(0, vocabulary, LOOKUPS)),
        tf.constant([vocabulary, EMBEDDING]),
    )

    @tf.function
    def step() -> tf.Tensor:
        optimizer.apply([slices, *dense], variables)
        return tf.identity(optimizer.iterations.value)

    def steps() -> None:
        for _ in range(STEPS):
            step().numpy()

    steps()
    return lambda: seconds_of(steps) / STEPS * 1e3


def measure(vocabulary: int, repeats: int) -> list[Figure]:
    """Returns the times of steps, and their ratios."""
    figures = []
    for name, (theirs, ours) in PAIRS.items():
        label = f"{name}, {vocabulary:,} rows"
        runs = run_in_turn(
            {
                "Keras": make_step(theirs(), vocabulary),
                "recursive_tf": make_step(ours(), vocabulary),
            },
            repeats,
            label,
        )
        figures += [Figure(f"{label}, {who}", "ms", runs[who]) for who in runs]
        ratios = [a / b for a, b in zip(*runs.values(), strict=True)]
        figures.append(Figure(f"{label}, times faster", "ratio", ratios, at_least(1)))
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimizers")
    parser.add_argument("--vocabulary", type=int, default=18_278)
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args(arguments)
    use_two_cores()
    print(*table.HEADER, sep="\n", flush=True)
    for figure in measure(asked.vocabulary, asked.repeats):
        print(table.line(figure))


if __name__ == "__main__":
    main()
