"""The processes of a ParameterServerStrategy; the chief writes a JSON file.

Argument: the file. What it has by name are results of this process alone, and of
workers that are sent batches.
"""

import contextlib
import faulthandler
import json
import pathlib
import sys

import keras
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.optimizers import LazyAdam, SparseAdagrad
from tests.distribute.traffic import SIZE, WORDS, loopback_bytes

TIMEOUT_S = 240
OPTIMIZERS = {"batched": SparseAdagrad, "dataflow": LazyAdam}
FEW_WORDS, STEPS = 9, 6


def trees(vocabulary):
    return rtf.data.generate(
        "random", 5, words=range(1, 6), vocabulary=vocabulary, seed=1
    )


def train(executor, scope, call, words=FEW_WORDS, size=4):
    """Returns losses, the table, and bytes of steps of an encoder that is trained.

    Args:
        executor: Of the encoder.
        scope: In which variables are made.
        call: Calls a tf.function with a batch.
        words: How many there are.
        size: Of their vectors.
    """
    with scope:
        keras.utils.set_random_seed(0)
        encoder = rtf.layers.TreeEncoder(
            rtf.layers.TreeLSTMCell(3),
            keras.layers.Embedding(words, size, name="words"),
            executor=executor,
        )
        encoder.build(None)
        optimizer = OPTIMIZERS[executor](0.1)
        optimizer.build(encoder.trainable_variables)

    def of_replica(forest):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((encoder(forest) - 1.0) ** 2)
        variables = encoder.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    @tf.function
    def step(forest):
        return tf.distribute.get_strategy().run(of_replica, args=(forest,))

    losses, traffic = [], []
    for _ in range(STEPS):
        before = loopback_bytes()
        losses.append(float(call(step, trees(words))))
        traffic.append(loopback_bytes() - before)
    return {
        "losses": losses,
        "table": encoder.embedding.get_weights()[0].tolist(),
        "bytes": min(traffic),  # Others may use the loopback too.
    }


def recurse(executor, scope, call):
    """Returns a value of a SubGraph that reads one variable and looks up another."""
    with scope:
        weight = tf.Variable(2.0)
        table = tf.Variable(tf.reshape(tf.range(24.0), [12, 2]))
    with rtf.SubGraph("sum_up", executor=executor) as sum_up:
        n = sum_up.input(tf.int32)

        def more():
            row, element = tf.gather(table, n), tf.gather_nd(table, [[n, 1]])
            return weight * sum_up(n - 1) + tf.reduce_sum(row) + element[0]

        sum_up.output(tf.cond(n < 1, lambda: weight + 0.0, more))

    @tf.function
    def step(n):
        with tf.GradientTape() as tape:
            value = sum_up(n)
        by_weight, by_table = tape.gradient(value, [weight, table])
        return value, by_weight, tf.convert_to_tensor(by_table)

    return [part.tolist() for part in call(step, tf.constant(3))]


def change(executor, scope, call):
    """Returns what is said of a SubGraph that changes a variable."""
    del call
    with scope:
        count = tf.Variable(0)
    with rtf.SubGraph("count_up", executor=executor) as count_up:
        n = count_up.input(tf.int32)
        count.assign_add(1)
        count_up.output(tf.cond(n < 1, lambda: 0, lambda: count_up(n - 1)))
    try:
        tf.function(lambda: count_up(3)).get_concrete_function()
    except rtf.SubGraphError as error:
        return str(error)
    return None


def lead(resolver, path):
    found = {}
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

    def schedule(function, *args):
        with strategy.scope():
            result = coordinator.schedule(function, args=args)
        coordinator.join()
        return result.fetch()

    for executor in OPTIMIZERS:
        for check in (train, recurse):
            alone = check(executor, contextlib.nullcontext(), _call)
            sent = check(executor, strategy.scope(), schedule)
            found[f"{check.__name__} {executor}"] = alone, sent
    large = train("batched", strategy.scope(), schedule, WORDS, SIZE)
    found["bytes"] = large["bytes"]
    found["rows"] = len({int(x) for x in trees(WORDS).tokens if x >= 0})
    found["change"] = change("dataflow", strategy.scope(), schedule)
    path.write_text(json.dumps(found))


def _call(function, *args):
    return tf.nest.map_structure(lambda part: part.numpy(), function(*args))


def main():
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type == "chief":
        lead(resolver, pathlib.Path(sys.argv[1]))
        return
    tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol="grpc",
    ).join()


if __name__ == "__main__":
    main()
