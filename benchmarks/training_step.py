"""A training step without `fit` around it."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.data import Forest


def make_training_step(
    model: keras.Model, optimizer: keras.optimizers.Optimizer, **choices: Any
) -> Callable[[Forest], tf.Tensor]:
    """Returns a step of a model that finds its labels in forests; it returns the loss.

    Args:
        model: With its variables.
        optimizer: What updates these.
        **choices: Of `tf.function`, e.g. `input_signature`.
    """
    variables = model.trainable_variables
    optimizer.build(variables)

    # Keras's `fit` converts nothing with AutoGraph either.
    @tf.function(autograph=False, **choices)
    def step(forest: Forest) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = model.compute_loss(forest, y_pred=model(forest, training=True))
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return step
