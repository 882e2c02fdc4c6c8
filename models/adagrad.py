"""AdaGrad that touches only the rows of an embedding that were used.

Keras 3's own walks over the whole table, 5.5 million entries for the words of the
Stanford Sentiment Treebank, at every step.
"""

from collections.abc import Sequence

import tensorflow as tf


class Adagrad(tf.Module):
    """Duchi, Hazan, Singer. JMLR 2011; the diagonal form, as `tf.keras` has it.

    Thread safety: none; one step at a time.
    """

    def __init__(
        self,
        variables: Sequence[tf.Variable],
        learning_rate: float,
        initial_accumulator: float = 0.1,
        epsilon: float = 1e-7,
    ) -> None:
        super().__init__(name="adagrad")
        self._variables = tuple(variables)
        self._accumulators = [
            tf.Variable(tf.fill(v.shape, initial_accumulator), trainable=False)
            for v in self._variables
        ]
        self._learning_rate = learning_rate
        self._epsilon = epsilon

    def apply(self, gradients: Sequence[tf.Tensor | tf.IndexedSlices]) -> None:
        """Takes one step; gradients in the order of the variables."""
        for variable, accumulator, gradient in zip(
            self._variables, self._accumulators, gradients, strict=True
        ):
            arguments = {
                "var": variable.handle,
                "accum": accumulator.handle,
                "lr": self._learning_rate,
                "epsilon": self._epsilon,
            }
            if isinstance(gradient, tf.IndexedSlices):
                indices, rows = sum_duplicates(gradient)
                tf.raw_ops.ResourceSparseApplyAdagradV2(
                    **arguments, grad=rows, indices=indices
                )
            else:
                tf.raw_ops.ResourceApplyAdagradV2(**arguments, grad=gradient)


def sum_duplicates(slices: tf.IndexedSlices) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns each index once, with the sum of its rows.

    The sparse op squares each row by itself, which for a word that occurs twice is
    not the square of its gradient.
    """
    indices, segments = tf.unique(slices.indices)
    rows = tf.math.unsorted_segment_sum(slices.values, segments, tf.size(indices))
    return indices, rows
