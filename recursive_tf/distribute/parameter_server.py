"""Training with parameter servers, which Keras 3's `fit` does not know."""

from __future__ import annotations

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
    """
    add_at_once(model)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    limit = model.steps_per_execution

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
        for number, batch in enumerate(batches):
            coordinator.schedule(step, args=(batch,))
            if (number + 1) % limit == 0:
                coordinator.join()
                callbacks.on_train_batch_end(number, _found(model))
        coordinator.join()
        logs = _found(model)
        callbacks.on_train_batch_end(number, logs)
        model.reset_metrics()
        for batch in validation_data:
            evaluate(batch)
        logs |= {f"val_{name}": value for name, value in _found(model).items()}
        callbacks.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    callbacks.on_train_end()


def _found(model: keras.Model) -> Logs:
    return {name: float(value) for name, value in model.get_metrics_result().items()}
