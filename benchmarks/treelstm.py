"""Trees/s of the TreeLSTM: the recursive program against the iterative one.

    python -m benchmarks.treelstm                       # random trees of 19 words
    python -m benchmarks.treelstm --data=sst            # sst/train.txt

Prints, for each batch size, medians and the ratio of the two programs, measured in turn
in one process, because machines are shared and speeds drift.
"""

import pathlib
import random
import statistics
import time
from collections.abc import Callable

import tensorflow as tf
from absl import app, flags

from models.cells import TreeLSTMCell
from models.classifier import NodeClassifier
from models.dataset import read_dataset
from models.iterative import encode_iteratively
from models.recursive import encode
from models.training import Settings, Trainer, batches
from models.trees import Forest, Tree

_DATA = flags.DEFINE_string("data", None, "Folder with train.txt and dev.txt.")
_BATCH_SIZES = flags.DEFINE_list("batch_sizes", ["1", "10", "25", "64"], "To measure.")
_REPEATS = flags.DEFINE_integer("repeats", 5, "Runs of each row.", lower_bound=1)
_TREES = flags.DEFINE_integer("trees", 150, "Trees a run.", lower_bound=1)

VOCABULARY, EMBEDDING, HIDDEN, CLASSES = 18_280, 300, 150, 5
WORDS = 19


def random_tree(rng: random.Random) -> Forest:
    """Returns a tree whose neighbours are joined in a random order."""
    tree = Tree()
    nodes = [tree.add_leaf("", rng.randrange(CLASSES)) for _ in range(WORDS)]
    while len(nodes) > 1:
        i = rng.randrange(len(nodes) - 1)
        nodes[i : i + 2] = [
            tree.add_internal(nodes[i], nodes[i + 1], rng.randrange(CLASSES))
        ]
    tokens = [rng.randrange(VOCABULARY) for _ in tree.words]
    arrays = (tokens, tree.left, tree.right, tree.labels, [len(tokens) - 1])
    return Forest(*(tf.constant(a, tf.int32).numpy() for a in arrays))


def load_trees() -> list[Forest]:
    """Returns as many trees as a run takes."""
    if _DATA.value is not None:
        folder = pathlib.Path(_DATA.value)
        return read_dataset(folder, _TREES.value).train
    rng = random.Random(0)
    return [random_tree(rng) for _ in range(_TREES.value)]


def make_steps(encoder: Callable[..., object]) -> dict[str, Callable[..., object]]:
    """Returns the two steps of a model that runs its cell by `encoder`."""
    model = NodeClassifier(
        TreeLSTMCell(VOCABULARY, EMBEDDING, HIDDEN), encoder, CLASSES, dropout=0.5
    )
    settings = Settings(epochs=1, batch_size=1, learning_rate=0.05, l2=1e-4)
    trainer = Trainer(model, settings)
    # A tf.function of a method does not keep its object alive; these do.
    return {
        "training": lambda forest: trainer.train_step(forest),
        "inference": lambda forest: trainer.held_out_step(forest),
    }


def trees_per_s(step: Callable[..., object], forests: list[Forest]) -> float:
    """Runs `step` once over all `forests`."""
    start = time.perf_counter()
    for forest in forests:
        step(forest)
    return sum(len(f.roots) for f in forests) / (time.perf_counter() - start)


def measure(
    steps: dict[str, Callable[..., object]], forests: list[Forest]
) -> dict[str, float]:
    """Returns the median trees/s of each program, run in turn."""
    runs: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        step(forests[0])  # Traces, and touches memory first.
    for _ in range(_REPEATS.value):
        for name in random.sample(list(steps), len(steps)):
            runs[name].append(trees_per_s(steps[name], forests))
    return {name: statistics.median(rates) for name, rates in runs.items()}


def main(_argv: list[str]) -> None:
    """Prints the table."""
    trees = load_trees()
    recursive, iterative = make_steps(encode), make_steps(encode_iteratively)
    print("| batch | step | recursive, trees/s | iterative, trees/s | ratio |")
    print("|---|---|---|---|---|")
    for size in map(int, _BATCH_SIZES.value):
        forests = list(batches(trees, size))
        for kind in ("training", "inference"):
            programs = {"recursive": recursive[kind], "iterative": iterative[kind]}
            rates = measure(programs, forests)
            r, i = rates["recursive"], rates["iterative"]
            print(f"| {size} | {kind} | {r:.0f} | {i:.0f} | {r / i:.2f} |", flush=True)


if __name__ == "__main__":
    app.run(main)
