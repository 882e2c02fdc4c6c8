"""Trees of the replicas of a process, by each way to read them."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

NESTED = [[1, [2, 3]], 4, [[5, 1], [2, 4]]]


def read(strategy):
    """Returns sums of the tokens of each replica, by way, in two steps."""
    batches = rtf.data.batches(rtf.data.from_nested(NESTED, binary=True), 2)
    shared = rtf.distribute.shards(batches, strategy, "trees")
    return {way.__name__: way(strategy, shared) for way in WAYS}


def sums(strategy, batch):
    """Returns a vector: the sum of each replica's tokens, which has no word below 0."""

    def of_replica(forest):
        return tf.reduce_sum(tf.maximum(forest.tokens, 0))

    found = strategy.run(of_replica, args=(batch,))
    return tf.stack(strategy.experimental_local_results(found))


def replicas_here(strategy):
    return len(strategy.extended.worker_devices)


def eagerly(strategy, shared):
    return [sums(strategy, batch).numpy().tolist() for batch in shared]


def from_an_iterator(strategy, shared):
    @tf.function
    def step(iterator):
        return sums(strategy, iterator.get_next())

    found = []
    for iterator in (iter(shared), iter(shared)):
        found = [step(iterator).numpy().tolist() for _ in range(2)]
    assert step.experimental_get_tracing_count() == 1
    return found


def in_a_loop(strategy, shared):
    @tf.function
    def steps():
        found = tf.zeros([replicas_here(strategy)], tf.int32)
        for batch in shared:
            found = found * 100 + sums(strategy, batch)
        return found

    return [part.tolist() for part in np.divmod(steps(), 100)]


def of_an_argument(strategy, shared):
    @tf.function
    def steps(dataset):
        iterator = iter(dataset)
        return [sums(strategy, iterator.get_next()) for _ in range(2)]

    return [found.numpy().tolist() for found in steps(shared)]


def as_optional(strategy, shared):
    iterator = iter(shared)

    @tf.function
    def step(iterator):
        found = iterator.get_next_as_optional()
        return tf.cond(
            found.has_value(),
            lambda: sums(strategy, found.get_value()),
            lambda: tf.fill([replicas_here(strategy)], -1),
        )

    *found, end = (step(iterator).numpy().tolist() for _ in range(3))
    assert end == [-1] * replicas_here(strategy)
    return found


WAYS = (eagerly, from_an_iterator, in_a_loop, of_an_argument, as_optional)
