"""Trees/s of Keras's `fit` beside the same step in a bare `tf.function`.

    python -m benchmarks.fit                  # random trees of 19 words

The step is that of a TreeLSTM of the Stanford Sentiment Treebank's size with a label at
every node, on batches that are made before. Its optimizer updates the words of a batch
alone; Keras's own takes more time than all else. They are measured in turn, in one
process, because machines are shared and speeds drift. Prints medians, and their share
of the bare step with the one that it is to reach.
"""

import argparse
import functools
import statistics
import sys
from collections.abc import Callable, Sequence

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.figures import at_least
from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.treelstm_model import CLASSES, TREEBANK, random_trees

WORDS = 19
STEPS_PER_EXECUTION = 20
BARE = "bare step"
TARGETS = {"fit": at_least(0.85), "fit, 20 steps an execution": at_least(0.95)}


def batches(count: int, size: int) -> list[tuple[rtf.data.Forest, tf.Tensor]]:
    """Returns what a run trains on: forests, and the labels of their nodes."""
    trees = random_trees(count * size, WORDS, TREEBANK)
    return [
        (forest.replace(labels=None), forest.labels)
        for forest in rtf.data.batches(trees, size)
    ]


def make_model() -> keras.Model:
    """Returns a compiled TreeLSTM that labels every node."""
    forest = rtf.layers.ForestInput()
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(TREEBANK.hidden),
        keras.layers.Embedding(TREEBANK.vocabulary, TREEBANK.embedding),
        return_nodes=True,
    )
    h = keras.layers.Dropout(0.5)(encoder(forest))
    model = keras.Model(forest, keras.layers.Dense(CLASSES)(h))
    model.compile(
        rtf.optimizers.SparseAdagrad(0.05),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    return model


def make_bare_step() -> Callable[[rtf.data.Forest, tf.Tensor], tf.Tensor]:
    """Returns the same step without `fit`."""
    model = make_model()
    variables = model.trainable_variables
    model.optimizer.build(variables)

    @tf.function
    def step(forest: rtf.data.Forest, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = model.loss(labels, model(forest, training=True))
        model.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return step


def dataset_of(found: list[tuple[rtf.data.Forest, tf.Tensor]]) -> tf.data.Dataset:
    """Returns the batches as a dataset, held in memory."""
    specs = tuple(map(tf.type_spec_from_value, found[0]))
    specs = (specs[0], tf.TensorSpec([None], tf.int32))
    made = tf.data.Dataset.from_generator(lambda: iter(found), output_signature=specs)
    counted = tf.data.experimental.assert_cardinality(len(found))
    return made.apply(counted).cache().prefetch(2)


def make_runs(
    found: list[tuple[rtf.data.Forest, tf.Tensor]],
) -> dict[str, Callable[[], object]]:
    """Returns the programs, each of which trains once on all batches."""
    step, data = make_bare_step(), dataset_of(found)
    runs: dict[str, Callable[[], object]] = {
        BARE: lambda: [step(*batch) for batch in found]
    }
    for name, steps in zip(TARGETS, (1, STEPS_PER_EXECUTION), strict=True):
        model = make_model()
        model.steps_per_execution = steps
        runs[name] = functools.partial(model.fit, data, verbose=0, shuffle=False)
    return runs


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="fit beside a bare step")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each program")
    parser.add_argument("--steps", type=int, default=40, help="batches of a run")
    parser.add_argument("--batch_size", type=int, default=25, help="trees a step")
    chosen = parser.parse_args(arguments)
    runs = make_runs(batches(chosen.steps, chosen.batch_size))
    for run in runs.values():
        run()  # Traces, fills the cache and touches memory first.
    trees = chosen.steps * chosen.batch_size
    rates = {
        name: (lambda run=run: trees / seconds_of(run)) for name, run in runs.items()
    }
    measured = run_in_turn(rates, chosen.repeats)
    medians = {name: statistics.median(found) for name, found in measured.items()}
    print("| program | trees/s | share | target |")
    print("|---|---|---|---|")
    for name, rate in medians.items():
        share = rate / medians[BARE]
        print(f"| {name} | {rate:.0f} | {share:.2f} | {TARGETS.get(name, '')} |")


if __name__ == "__main__":
    main(sys.argv[1:])
