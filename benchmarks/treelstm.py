"""Trees/s of the TreeLSTM: the recursive program, in each executor, and the iterative.

    python -m benchmarks.treelstm                       # random trees of 19 words
    python -m benchmarks.treelstm --data=sst            # sst/train.txt

Prints, for each batch size, medians, and the ratios of the first to the others,
measured in turn in one process, because machines are shared and speeds drift.
"""

import functools
import statistics

from absl import app, flags

from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.treelstm_model import Step, make_steps, random_trees, read_trees
from recursive_tf.data import Forest, batches

_DATA = flags.DEFINE_string("data", None, "Folder with train.txt.")
_BATCH_SIZES = flags.DEFINE_list(
    "batch_sizes", ["1", "10", "25", "64", "256"], "To measure."
)
_REPEATS = flags.DEFINE_integer("repeats", 5, "Runs of each row.", lower_bound=1)
_TREES = flags.DEFINE_integer("trees", 256, "Trees a run.", lower_bound=1)

WORDS = 19


def load_trees() -> Forest:
    """Returns as many trees as a run takes."""
    if _DATA.value is not None:
        return read_trees(_DATA.value, _TREES.value)
    return random_trees(_TREES.value, WORDS)


def trees_per_s(step: Step, forests: list[Forest]) -> float:
    """Runs `step` once over all `forests`."""
    seconds = seconds_of(lambda: [step(forest) for forest in forests])
    return sum(map(len, forests)) / seconds


def measure(steps: dict[str, Step], forests: list[Forest]) -> dict[str, float]:
    """Returns the median trees/s of each program, run in turn."""
    for step in steps.values():
        step(forests[0])  # Traces, and touches memory first.
    programs = {
        name: functools.partial(trees_per_s, step, forests)
        for name, step in steps.items()
    }
    runs = run_in_turn(programs, _REPEATS.value)
    return {name: statistics.median(rates) for name, rates in runs.items()}


def main(_argv: list[str]) -> None:
    """Prints the table."""
    trees = load_trees()
    programs = {
        "batched": make_steps(executor="batched"),
        "dataflow": make_steps(executor="dataflow"),
        "iterative": make_steps(program="iterative"),
    }
    print("| batch | step | batched, trees/s | dataflow | iterative | ratios |")
    print("|---|---|---|---|---|---|")
    for size in map(int, _BATCH_SIZES.value):
        forests = list(batches(trees, size))
        for kind in ("training", "inference"):
            steps = {name: steps[kind] for name, steps in programs.items()}
            b, d, i = measure(steps, forests).values()
            ratios = f"{b / d:.1f}, {b / i:.1f}"
            row = (size, kind, f"{b:.0f}", f"{d:.0f}", f"{i:.0f}", ratios)
            print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    app.run(main)
