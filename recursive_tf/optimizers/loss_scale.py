"""Mixed precision for replicas."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute.sums import sum_over_replicas


@keras.saving.register_keras_serializable("recursive_tf")
class LossScaleOptimizer(keras.optimizers.LossScaleOptimizer):
    """`keras.optimizers.LossScaleOptimizer`, by the gradients of all replicas.

    If a gradient of any replica is not finite, no replica takes the step. Keras's own
    looks at the first replica only. Then gradients of others that are not finite go
    into all variables, and workers that decide differently wait for each other forever.

    >>> from recursive_tf.optimizers import LazyAdam, LossScaleOptimizer
    >>> LossScaleOptimizer(LazyAdam(0.01), initial_scale=256.0).initial_scale
    256.0

    Args:
        inner_optimizer: What takes the step.
        **kwargs: As of Keras's, e.g. `initial_scale`, `dynamic_growth_steps`.
    """

    def check_finite(self, grads: Sequence[Any]) -> tf.Tensor:
        """Says whether the gradients of all replicas are finite."""
        is_finite = super().check_finite(grads)
        return sum_over_replicas(tf.cast(~is_finite, tf.int32)) == 0
