"""Trees/s that become batches, beside the trees/s that a TreeLSTM trains on.

    python -m benchmarks.batches                       # random trees of 19 words
    python -m benchmarks.batches --data=sst            # sst/train.txt

Making batches should be at least five times faster, so that training never waits for
them. Each row is measured in turn in one process: all batches of a pass, shuffled, made
and dropped; and the steps of a training on batches that are already there.
"""

import functools
import statistics
from collections.abc import Callable

from absl import app, flags

from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.treelstm_model import Step, make_steps, random_trees, read_trees
from recursive_tf.data import Forest, batches

_DATA = flags.DEFINE_string("data", None, "Folder with train.txt.")
_BATCH_SIZES = flags.DEFINE_list(
    "batch_sizes", ["10", "25", "64", "256"], "To measure."
)
_REPEATS = flags.DEFINE_integer("repeats", 5, "Runs of each row.", lower_bound=1)
_TREES = flags.DEFINE_integer("trees", 1024, "Trees a run.", lower_bound=1)

WORDS = 19
TARGET = 5


def load_trees() -> Forest:
    """Returns as many trees as a run takes."""
    if _DATA.value is not None:
        return read_trees(_DATA.value, _TREES.value)
    return random_trees(_TREES.value, WORDS)


def ways_of(trees: Forest, size: int) -> dict[str, Callable[[], object]]:
    """Returns ways to make batches of a size, each over all trees."""
    in_memory = batches(trees, size, shuffle=True)
    alike = batches(trees, size, shuffle=True, bucket_by="nodes")
    return {
        "batches": lambda: list(map(len, in_memory)),
        "bucketed": lambda: list(map(len, alike)),
    }


def training(step: Step, trees: Forest, size: int) -> Callable[[], object]:
    """Returns a pass of training over batches that are there."""
    made = list(batches(trees, size))
    step(made[0])  # Traces, and touches memory first.
    return lambda: [step(batch) for batch in made]


def main(_argv: list[str]) -> None:
    """Prints the table."""
    trees = load_trees()
    step = make_steps(executor="batched")["training"]
    print("| batch | training, trees/s | batches | bucketed | batches / training |")
    print("|---|---|---|---|---|")
    for size in map(int, _BATCH_SIZES.value):
        ways = {"training": training(step, trees, size), **ways_of(trees, size)}
        runs = run_in_turn(
            {name: functools.partial(seconds_of, way) for name, way in ways.items()},
            _REPEATS.value,
        )
        rates = [len(trees) / statistics.median(run) for run in runs.values()]
        ratio = rates[1] / rates[0]
        verdict = "" if ratio >= TARGET else f", less than {TARGET}"
        cells = [str(size), *(f"{rate:.0f}" for rate in rates), f"{ratio:.1f}{verdict}"]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    app.run(main)
