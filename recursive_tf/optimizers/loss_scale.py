"""Mixed precision for replicas."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute.sums import sum_over_replicas


@keras.saving.register_keras_serializable("recursive_tf")
class LossScaleOptimizer(keras.optimizers.LossScaleOptimizer):
    """`keras.optimizers.LossScaleOptimizer`, by what all replicas have.

    Where a gradient of any replica is not finite, no replica takes the step. Keras asks
    the first one alone: what others have then goes into all variables, and workers that
    decide differently wait for each other without end.

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
