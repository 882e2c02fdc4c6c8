"""Optimizers by which N replicas learn as one does that has all trees."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute.slices import added_up, values_of, with_values
from recursive_tf.distribute.sums import has_replicas, sum_over_replicas


class ReplicatedOptimizer(keras.optimizers.Optimizer):
    """Clips and accumulates the gradients of all replicas, not of each.

    Keras clips what one replica has, and fails if `gradient_accumulation_steps` is
    given where there are replicas.
    """

    def _clip_gradients(self, grads: Sequence[Any]) -> Any:
        """Clips the sum of the gradients of all replicas, of which rows occur once.

        Keras clips the values of slices: by a global norm, it would make whole tables
        of the slices. The norm is the same, since other rows of a table are zeros.
        """
        if has_replicas():
            # Fewer rows go from one to the other.
            grads = sum_over_replicas([added_up(gradient) for gradient in grads])
        elif not self.clips:
            return grads
        sums = [added_up(gradient) for gradient in grads]
        clipped = super()._clip_gradients([values_of(gradient) for gradient in sums])
        return list(map(with_values, sums, clipped))

    @property
    def clips(self) -> bool:
        """Whether gradients are clipped, which needs the sum of those of a row."""
        return any((self.clipnorm, self.global_clipnorm, self.clipvalue))

    def _all_reduce_sum_gradients(self, grads_and_vars: Any) -> Any:
        """Returns them as they are: they are sums already."""
        return grads_and_vars

    def _backend_apply_gradients(
        self, grads: Sequence[Any], trainable_variables: Sequence[Any]
    ) -> None:
        """As Keras's, where there is one replica or nothing to decide."""
        if not has_replicas():
            super()._backend_apply_gradients(grads, trainable_variables)
            return
        if self.use_ema and self.ema_overwrite_frequency:
            raise ValueError(
                f"{self.name} has ema_overwrite_frequency, which Keras cannot do with "
                "replicas. Leave it out: variables become their moving averages when "
                "`fit` ends, or by optimizer.finalize_variable_values(...)."
            )
        if not self.gradient_accumulation_steps:
            super()._backend_apply_gradients(grads, trainable_variables)
            return
        context = tf.distribute.get_replica_context()
        context.merge_call(self._take_turn, args=(grads, trainable_variables))
        if self.use_ema:
            self._update_model_variables_moving_average(self._trainable_variables)

    def _take_turn(
        self, strategy: Any, grads: Sequence[Any], trainable_variables: Sequence[Any]
    ) -> None:
        """Adds gradients to those of earlier steps, or updates variables by the mean.

        Decided for all replicas at once: what one of them decides for itself cannot
        move anything between them.
        """
        is_update = (self._iterations + 1) % self.gradient_accumulation_steps == 0

        def in_each(step: Any) -> None:
            strategy.extended.call_for_each_replica(
                step, args=(grads, trainable_variables)
            )

        keras.ops.cond(
            is_update,
            lambda: in_each(self._update_by_mean),
            lambda: in_each(self._accumulate),
        )

    def _accumulate(
        self, grads: Sequence[Any], trainable_variables: Sequence[Any]
    ) -> None:
        sums = self._sums_of(trainable_variables)
        self._backend_increment_gradient_accumulators(grads, sums)

    def _update_by_mean(
        self, grads: Sequence[Any], trainable_variables: Sequence[Any]
    ) -> None:
        sums = self._sums_of(trainable_variables)
        pairs = zip(grads, sums, strict=True)
        means = [(g + sum_) / self.gradient_accumulation_steps for g, sum_ in pairs]
        means = self._clip_gradients(means)
        self._apply_weight_decay(trainable_variables)
        self._backend_update_step(means, trainable_variables, self.learning_rate)
        self._backend_reset_gradient_accumulators()

    def _sums_of(self, trainable_variables: Sequence[Any]) -> list[Any]:
        """Returns what this replica has of earlier steps."""
        numbers = map(self._get_variable_index, trainable_variables)
        return [self._accumulated_gradients[number] for number in numbers]
