"""What is trained alike by one replica and by several: see test_equality.py.

A training takes a strategy, and returns what a JSON file holds: its losses and the
variables that it ends with.
"""

import functools

import keras
import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from models.dependency.model import DependencyModel
from models.sentiment.classifier import NodeClassifier
from recursive_tf.optimizers import LazyAdam, LossScaleOptimizer, SparseAdagrad

VOCABULARY, CLASSES = 12, 3
POISON = VOCABULARY - 1
BATCH = 7  # Never as many trees for each of two or three replicas.
STEPS, EPOCHS = 50, 5


def few_words(number, seed=0):
    return rtf.data.generate(
        "random",
        number,
        words=range(1, 4),
        vocabulary=POISON,
        classes=CLASSES,
        seed=seed,
    )


def chain(words, seed=0):
    return rtf.data.generate(
        "linear", 1, words=words, vocabulary=POISON, classes=CLASSES, seed=seed
    )


def unequal_trees():
    """Returns ten batches: one tree is a hundred times larger, the last is alone."""
    small = few_words(STEPS // EPOCHS * BATCH - BATCH)
    return rtf.data.concat([small[:10], chain(150), small[10:]])


def batches_of(trees, seed=0):
    return rtf.data.batches(trees, BATCH, shuffle=True, seed=seed)


def classifier(executor, optimizer, dtype="float32"):
    """Returns a small compiled model of the current strategy."""
    keras.utils.set_random_seed(0)
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(5, dtype=dtype),
        keras.layers.Embedding(VOCABULARY, 4, "uniform", dtype=dtype),
        executor=executor,
        return_nodes=True,
        dtype=dtype,
    )
    model = NodeClassifier(encoder, CLASSES, l2=1e-3, dtype=dtype)
    model.build()
    model.compile(optimizer)
    model.optimizer.build(model.trainable_variables)
    return model


def variables_of(model):
    return [np.asarray(v).tolist() for v in model.trainable_variables]


class Losses(keras.callbacks.Callback):
    """What Keras reports at the end of each epoch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def on_epoch_end(self, epoch, logs=None):
        self.found.append({name: float(value) for name, value in logs.items()})


def fit(strategy, executor, make_optimizer, balance_by="nodes"):
    """Trains with Keras's loop, several steps an execution, and validates."""
    with strategy.scope():
        model = classifier(executor, make_optimizer())
        model.steps_per_execution = 4
    rtf.distribute.enable_fit(model)
    losses = Losses()
    model.fit(
        rtf.distribute.shards(batches_of(unequal_trees()), strategy, balance_by),
        validation_data=rtf.distribute.shards(batches_of(few_words(8, 1)), strategy),
        epochs=EPOCHS,
        verbose=0,
        callbacks=[losses],
    )
    return {"losses": losses.found, "variables": variables_of(model)}


def make_step(strategy, model):
    """Returns a step of one's own: it takes each replica's share, and returns the loss.

    A batch with the word POISON has no finite gradient.
    """
    replicas = strategy.num_replicas_in_sync
    optimizer = model.optimizer

    def of_replica(forest):
        with tf.GradientTape() as tape:
            loss = model.compute_loss(forest, y_pred=model(forest, training=True))
            is_poisoned = tf.reduce_any(forest.tokens == POISON)
            scaled = optimizer.scale_loss(loss * tf.where(is_poisoned, np.inf, 1.0))
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(scaled, variables), variables)
        count = tf.cast(forest.num_trees, loss.dtype)
        return loss * count * replicas, count

    @tf.function(reduce_retracing=True)
    def step(forest):
        total, count = strategy.run(of_replica, args=(forest,))
        total, count = (strategy.reduce("SUM", x, axis=None) for x in (total, count))
        return total / count

    return step


def loop(
    strategy,
    executor,
    make_optimizer,
    make_trees=unequal_trees,
    epochs=EPOCHS,
    **choices,
):
    """Trains with a loop of one's own."""
    with strategy.scope():
        model = classifier(executor, make_optimizer(), **choices)
    step = make_step(strategy, model)
    shared = rtf.distribute.shards(batches_of(make_trees()), strategy)
    found = {"losses": [], "at_first": variables_of(model)}
    for _ in range(epochs):
        for batch in shared:
            found["losses"].append(float(step(batch)))
            found.setdefault("after_one_step", variables_of(model))
    return found | {"variables": variables_of(model)}


def structures():
    """Returns batches of which replicas get leaves alone, a deep chain, or nothing."""
    leaf, deep = chain(1), chain(40)
    lists = [[deep, leaf, leaf], [leaf, leaf, deep], [leaf], [deep], [leaf, deep]]
    return [rtf.data.concat(trees) for trees in lists]


def loop_over_structures(strategy, executor):
    """Trains where replicas have nothing in common but the step."""
    with strategy.scope():
        model = classifier(executor, SparseAdagrad(0.05))
    step = make_step(strategy, model)
    losses = []
    for batch in structures():
        dataset = tf.data.Dataset.from_tensors(batch)
        shared = rtf.distribute.shards(dataset, strategy, "trees")
        losses += [float(step(batch)) for batch in shared]
    return {"losses": losses, "variables": variables_of(model)}


def poisoned():
    """Returns four batches of trees; one tree, of one word, has no finite gradient."""
    trees = few_words(4 * BATCH - 1)
    return rtf.data.concat([trees, chain(1).replace(tokens=[POISON])])


def mixed(strategy, executor):
    """Trains in half precision; one step overflows in one replica, and is left out."""

    def make():
        return LossScaleOptimizer(
            SparseAdagrad(0.05), initial_scale=64.0, dynamic_growth_steps=3
        )

    return loop(strategy, executor, make, poisoned, 2, dtype="mixed_float16")


def overflow(strategy, executor):
    """The same in float32, where sums do not depend on how they are added up."""

    def make():
        return LossScaleOptimizer(LazyAdam(0.01), initial_scale=8.0)

    return loop(strategy, executor, make, poisoned, 2)


def dependency(strategy, executor):
    """Trains a top-down model of dependency trees with Keras's loop."""
    trees = rtf.data.from_nested(
        [
            {"token": 1 + i % 6, "children": [i % 4 + 1, {"token": 2}][: i % 3]}
            for i in range(10)
        ],
        binary=False,
    )
    with strategy.scope():
        keras.utils.set_random_seed(0)
        model = DependencyModel(4, 8, executor=executor)
        model.compile(LazyAdam(0.01))
        model.optimizer.build(model.trainable_variables)
    rtf.distribute.enable_fit(model)
    losses = Losses()
    shared = rtf.distribute.shards(batches_of(trees), strategy)
    model.fit(shared, epochs=3, verbose=0, callbacks=[losses])
    return {"losses": losses.found, "variables": variables_of(model)}


def functional(strategy, executor):
    """Trains, evaluates and applies a functional model, with labels beside forests."""
    trees = few_words(16)
    labels = tf.gather(trees.labels, trees.roots)
    dataset = tf.data.Dataset.from_tensor_slices((trees, labels)).batch(8)
    with strategy.scope():
        keras.utils.set_random_seed(0)
        words = rtf.layers.ForestInput()
        encoder = rtf.layers.TreeEncoder(
            rtf.layers.TreeLSTMCell(5),
            keras.layers.Embedding(VOCABULARY, 4),
            executor=executor,
        )
        model = keras.Model(words, keras.layers.Dense(CLASSES)(encoder(words)))
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    rtf.distribute.enable_fit(model)
    losses = Losses()
    shared = rtf.distribute.shards(dataset, strategy)
    model.fit(shared, epochs=4, verbose=0, callbacks=[losses])
    losses.found.append(model.evaluate(shared, return_dict=True, verbose=0))
    logits = model.predict(dataset.map(lambda forest, _: forest), verbose=0)
    return {"losses": losses.found, "variables": [logits.tolist()]}


def accumulate(strategy, executor):
    """Trains by the mean of two batches each, also clipped and decayed."""

    def make():
        return SparseAdagrad(
            0.1, gradient_accumulation_steps=2, clipnorm=0.05, weight_decay=0.01
        )

    return loop(strategy, executor, make, lambda: few_words(2 * BATCH + 1), 2)


def adagrad():
    return SparseAdagrad(0.05)


def clipped_adagrad():
    return SparseAdagrad(0.05, clipnorm=0.1)


def adam():
    return LazyAdam(0.005)


def clipped_adam():
    return LazyAdam(0.005, global_clipnorm=0.1)


BATCHED, DATAFLOW = {"executor": "batched"}, {"executor": "dataflow"}
CHOICES = {
    "fit": (fit, {"make_optimizer": adagrad, **BATCHED}),
    "fit, dataflow": (
        fit,
        {"make_optimizer": adam, "balance_by": "trees", **DATAFLOW},
    ),
    "loop": (loop, {"make_optimizer": clipped_adam, **BATCHED}),
    "loop, dataflow": (loop, {"make_optimizer": clipped_adagrad, **DATAFLOW}),
    "structures": (loop_over_structures, BATCHED),
    "structures, dataflow": (loop_over_structures, DATAFLOW),
    "dependency": (dependency, BATCHED),
    "functional": (functional, BATCHED),
    "accumulate": (accumulate, BATCHED),
    "overflow": (overflow, BATCHED),
    "mixed": (mixed, BATCHED),
}
TRAININGS = {
    name: functools.partial(train, **choices)
    for name, (train, choices) in CHOICES.items()
}
# Which of them several replicas do: in one process, or in as many workers.
MIRRORED = {
    2: [
        "fit",
        "loop, dataflow",
        "structures, dataflow",
        "dependency",
        "functional",
        "accumulate",
        "mixed",
    ],
    3: ["accumulate"],
}
WORKERS = {2: ["fit, dataflow", "loop", "structures", "accumulate", "overflow"]}
