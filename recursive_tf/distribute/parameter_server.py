"""Training with parameter servers, which Keras 3's `fit` does not know."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute.additions import add_at_once

Logs = dict[str, float]


def fit_asynchronously(  # noqa: PLR0913 (those of Keras's fit)
    model: keras.Model,
    strategy: tf.distribute.ParameterServerStrategy,
    batches: tf.data.Dataset,
    *,
    validation_data: tf.data.Dataset,
    initial_epoch: int,
    epochs: int,
    callbacks: keras.callbacks.CallbackList,
    steps_at_once: int,
    **_: Any,
) -> None:
    """As `keras.Model.fit`, but workers take steps without waiting for each other.

    The chief reads batches and hands each to a worker that is free. A step's gradients
    are applied to the weights as they are by then, so runs are not alike to the digit.
    Each epoch is evaluated by the chief, when all of its steps are done.

    Args:
        model: Made in the scope of the strategy, compiled.
        strategy: A `tf.distribute.ParameterServerStrategy`.
        batches: As of `fit`, a dataset of forests, or of tuples that begin with one.
        validation_data: As of `fit`.
        initial_epoch: As of `fit`.
        epochs: As of `fit`.
        callbacks: As of `fit`, in a list that calls them.
        steps_at_once: After so many steps callbacks are called. All workers have ended
            theirs by then, so few of them let workers wait for each other.
    """
    add_at_once(model)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

    @tf.function(reduce_retracing=True)
    def step(batch: Any) -> None:
        strategy.run(model.train_step, args=(batch,))

    @tf.function(reduce_retracing=True)
    def evaluate(batch: Any) -> None:
        model.test_step(batch)

    model.stop_training = False
    callbacks.on_train_begin()
    for epoch in range(initial_epoch, epochs):
        model.reset_metrics()
        callbacks.on_epoch_begin(epoch)
        done = 0
        for group in _groups(batches, steps_at_once):
            callbacks.on_train_batch_begin(done)
            for batch in group:
                coordinator.schedule(step, args=(batch,))
                done += 1
            coordinator.join()
            logs = _found(model)
            callbacks.on_train_batch_end(done - 1, logs)
            if model.stop_training:
                break
        model.reset_metrics()
        for batch in validation_data:
            evaluate(batch)
        logs |= {f"val_{name}": value for name, value in _found(model).items()}
        callbacks.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    callbacks.on_train_end()


def _groups(batches: Iterable[Any], size: int) -> Iterator[Iterator[Any]]:
    """Yields so many batches after the other; each is read when it is taken."""
    rest = iter(batches)
    for first in rest:
        yield itertools.chain([first], itertools.islice(rest, size - 1))


def _found(model: keras.Model) -> Logs:
    return {name: float(value) for name, value in model.get_metrics_result().items()}
