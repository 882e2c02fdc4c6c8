"""Trees/s of TD-TreeLSTM: learning from given trees, making new ones, completing roots.

    python -m benchmarks.td_tree_lstm                          # trains a model first
    python -m benchmarks.td_tree_lstm --checkpoint_dir=...     # of models.td_tree_lstm

Prints, for each batch size, medians of both executors, and their ratio, measured in
turn in one process, because machines are shared and speeds drift. A model has to be
trained, or the trees that it makes would not be like those that are given; so what is
made is counted too: words a tree.
"""

import argparse
import dataclasses
import functools
import itertools
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from tqdm import tqdm

import recursive_tf as rtf
from benchmarks.origin import origin, write
from benchmarks.td_tree_lstm_page import EXECUTORS, table_of
from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.training_step import make_training_step
from models.dependency.generator import Generator
from models.dependency.model import DependencyModel
from models.dependency.settings import DependencySettings
from models.running import settings as all_settings
from models.td_tree_lstm import GENERATED, TASK
from recursive_tf.data import Forest
from recursive_tf.training import RunFolder

# Takes a batch of trees, or of their roots; returns how many words there were.
Step = Callable[[Forest], int]


class Trained(NamedTuple):
    """A model, and trees that are like those it was trained on."""

    model: DependencyModel
    trees: Forest


def load(folder: pathlib.Path, num_trees: int) -> Trained:
    """Returns the model of a run."""
    run = RunFolder(folder)
    settings = all_settings.load(DependencySettings, run.settings)
    settings = dataclasses.replace(settings, limit_trees=num_trees)
    trees = rtf.data.encode(TASK.read(settings, "train"), tokens=run.load_words())
    return Trained(run.load_best(), trees)


def train(epochs: int, num_trees: int) -> Trained:
    """Returns a model of the grammar's sentences."""
    keras.utils.set_random_seed(0)
    trees = TASK.read(GENERATED, "train")
    words = TASK.vocabulary(trees)
    trees = rtf.data.encode(trees, tokens=words)
    model = TASK.build(GENERATED, trees, words)
    batches = rtf.data.batches(trees, GENERATED.batch_size, shuffle=True, seed=0)
    model.fit(batches, epochs=epochs, verbose=0, shuffle=False)
    return Trained(model, trees[:num_trees])


def copy_of(model: DependencyModel, executor: str) -> DependencyModel:
    """Returns the same model, run by an executor."""
    config = model.get_config() | {"executor": executor}
    copy = DependencyModel.from_config(config)
    copy.set_weights(model.get_weights())
    return copy


def make_steps(model: DependencyModel, executor: str) -> dict[str, Step]:
    """Returns what is measured."""
    generator = Generator(copy_of(model, executor))
    optimizer = rtf.optimizers.LazyAdam(GENERATED.learning_rate)
    learn = make_training_step(copy_of(model, executor), optimizer)
    seeds = itertools.count()

    def learning(forest: Forest) -> int:
        learn(forest)
        return int(forest.num_nodes)

    def generating(forest: Forest) -> int:
        return int(generator.generate(len(forest), next(seeds)).num_nodes)

    def completing(roots: Forest) -> int:
        return int(generator.complete(roots, next(seeds)).num_nodes)

    return {"training": learning, "generating": generating, "completing": completing}


def roots_of(forest: Forest) -> Forest:
    """Returns trees of the roots alone."""
    count = len(forest)
    return Forest(
        tokens=tf.gather(forest.tokens, forest.roots),
        children=tf.RaggedTensor.from_row_lengths(
            tf.zeros([0], tf.int32), tf.zeros([count], tf.int64)
        ),
        roots=tf.range(count),
        sizes=tf.ones([count], tf.int32),
    )


def trees_per_s(step: Step, forests: list[Forest]) -> float:
    """Runs `step` once over all `forests`."""
    return sum(map(len, forests)) / seconds_of(lambda: list(map(step, forests)))


def rows_of(
    size: int, trained: Trained, steps: dict[str, dict[str, Step]], repeats: int
) -> Iterator[dict[str, Any]]:
    """Yields the trees/s of each run of both executors, in turn, and words a tree."""
    given = list(rtf.data.batches(trained.trees, size))
    roots = list(map(roots_of, given))
    for kind in steps["batched"]:
        forests = roots if kind == "completing" else given
        own = {executor: steps[executor][kind] for executor in EXECUTORS}
        # Traces, and touches memory first.
        words, _ = [sum(map(step, forests)) for step in own.values()]
        runs = {
            name: functools.partial(trees_per_s, step, forests)
            for name, step in own.items()
        }
        yield {
            "batch": size,
            "step": kind,
            "words": words / len(trained.trees),
            "trees_per_s": run_in_turn(runs, repeats),
        }


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="throughput of TD-TreeLSTM")
    parser.add_argument("--checkpoint_dir", type=pathlib.Path, help="folder of a run")
    parser.add_argument("--batch_sizes", type=int, nargs="*", default=[1, 64])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each row")
    parser.add_argument("--trees", type=int, default=256, help="trees of a run")
    parser.add_argument(
        "--epochs", type=int, default=GENERATED.epochs, help="of a model's training"
    )
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    chosen = parser.parse_args(arguments)
    if chosen.checkpoint_dir is None:
        trained = train(chosen.epochs, chosen.trees)
    else:
        trained = load(chosen.checkpoint_dir, chosen.trees)
    steps = {executor: make_steps(trained.model, executor) for executor in EXECUTORS}
    rows = [
        row
        for size in tqdm(chosen.batch_sizes, desc="batch sizes")
        for row in rows_of(size, trained, steps, chosen.repeats)
    ]
    print(table_of(rows))
    if chosen.json:
        found = {**origin("benchmarks.td_tree_lstm", arguments), "rows": rows}
        write(found, chosen.json)


if __name__ == "__main__":
    main(sys.argv[1:])
