"""Trees/s of Keras's `fit` beside the same step in a bare `tf.function`.

    python -m benchmarks.fit                  # random trees of 19 words

The step is that of a TreeLSTM of the Stanford Sentiment Treebank's size with a label at
every node, on batches that are made before; they are measured in turn, in one process,
because machines are shared and speeds drift. Prints medians, and their share of the
bare step with the one that it is to reach.
"""

import functools
import random
import statistics
from collections.abc import Callable

import keras
import tensorflow as tf
from absl import app, flags

import recursive_tf as rtf
from benchmarks.figures import at_least
from benchmarks.timing import run_in_turn, seconds_of
from benchmarks.treelstm_model import CLASSES, TREEBANK

_REPEATS = flags.DEFINE_integer("repeats", 7, "Runs of each program.", lower_bound=1)
_STEPS = flags.DEFINE_integer("steps", 40, "Batches of a run.", lower_bound=1)
_BATCH_SIZE = flags.DEFINE_integer("batch_size", 25, "Trees a step.", lower_bound=1)

WORDS = 19
STEPS_PER_EXECUTION = 20
TARGETS = {"fit": at_least(0.85), "fit, 20 steps an execution": at_least(0.95)}


def random_tree(rng: random.Random, words: int) -> object:
    """Returns nested lists whose neighbours were joined in a random order."""
    nodes: list[object] = [rng.randrange(TREEBANK.vocabulary) for _ in range(words)]
    while len(nodes) > 1:
        i = rng.randrange(len(nodes) - 1)
        nodes[i : i + 2] = [[nodes[i], nodes[i + 1]]]
    return nodes[0]


def batches() -> list[tuple[rtf.data.Forest, tf.Tensor]]:
    """Returns what a run trains on: forests, and the labels of their nodes."""
    rng = random.Random(0)
    found = []
    for _ in range(_STEPS.value):
        trees = [random_tree(rng, WORDS) for _ in range(_BATCH_SIZE.value)]
        forest = rtf.data.from_nested(trees, binary=True)
        labels = [rng.randrange(CLASSES) for _ in range(int(forest.num_nodes))]
        found.append((forest, tf.constant(labels)))
    return found


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
        keras.optimizers.Adagrad(0.05),
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


def main(_argv: list[str]) -> None:
    """Prints the table."""
    found = batches()
    step, data = make_bare_step(), dataset_of(found)
    runs: dict[str, Callable[[], object]] = {
        "bare step": lambda: [step(*batch) for batch in found]
    }
    for name, steps in zip(TARGETS, (1, STEPS_PER_EXECUTION), strict=True):
        model = make_model()
        model.steps_per_execution = steps
        runs[name] = functools.partial(model.fit, data, verbose=0, shuffle=False)
    for run in runs.values():
        run()  # Traces, fills the cache and touches memory first.
    trees = len(found) * _BATCH_SIZE.value
    rates = {
        name: (lambda run=run: trees / seconds_of(run)) for name, run in runs.items()
    }
    measured = run_in_turn(rates, _REPEATS.value)
    medians = {name: statistics.median(rates) for name, rates in measured.items()}
    print("| program | trees/s | share | target |")
    print("|---|---|---|---|")
    for name, rate in medians.items():
        share = rate / medians["bare step"]
        print(f"| {name} | {rate:.0f} | {share:.2f} | {TARGETS.get(name, '')} |")


if __name__ == "__main__":
    app.run(main)
