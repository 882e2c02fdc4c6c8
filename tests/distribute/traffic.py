"""How many bytes a step moves between workers, of a model with a large embedding."""

import pathlib

import keras
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.optimizers import SparseAdagrad

WORDS, SIZE = 18_000, 300
TREES, MEASURED, STEPS = 8, 5, 4
REDUCTION, GATHER = "CollectiveReduceV2", "CollectiveGatherV2"


def traffic(strategy):
    """Returns a step's bytes, rows that it looks up, and what it exchanges."""
    with strategy.scope():
        table = keras.layers.Embedding(WORDS, SIZE)
        encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(4), table)
        encoder.build(None)
        optimizer = SparseAdagrad(0.1)
        optimizer.build(encoder.trainable_variables)

    def of_replica(forest):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(encoder(forest) ** 2)
            loss = rtf.distribute.mean_over_trees(total, forest.num_trees)
        variables = encoder.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)

    @tf.function(reduce_retracing=True)
    def step(forest):
        strategy.run(of_replica, args=(forest,))

    trees = rtf.data.generate("balanced", TREES, words=8, vocabulary=WORDS)
    dataset = tf.data.Dataset.from_tensors(trees).repeat(1 + MEASURED * STEPS)
    batches = iter(rtf.distribute.shards(dataset, strategy))
    step(next(batches))
    found = [_bytes_of(step, batches) for _ in range(MEASURED)]
    graph = step.get_concrete_function(trees).graph
    exchanges = [
        op for op in graph.get_operations() if op.type.startswith("Collective")
    ]
    return {
        "bytes": min(found) / STEPS,  # Others may use the loopback too.
        "rows": TREES * 8,
        "exchanged": [op.type for op in exchanges],
    }


def _bytes_of(step, batches):
    before = loopback_bytes()
    for _ in range(STEPS):
        step(next(batches))
    return loopback_bytes() - before


def loopback_bytes():
    """Returns how many bytes came over the loopback since the machine was started."""
    lines = pathlib.Path("/proc/net/dev").read_text().splitlines()
    [line] = [line for line in lines if line.strip().startswith("lo:")]
    return int(line.split(":")[1].split()[0])
