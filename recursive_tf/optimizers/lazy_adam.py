"""Adam for embeddings of which a step uses a few rows."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.optimizers.rows import read, write
from recursive_tf.optimizers.sparse_optimizer import (
    SparseOptimizer,
    Target,
    Updates,
    shared_arguments,
)


@keras.saving.register_keras_serializable("recursive_tf")
class LazyAdam(SparseOptimizer):
    """Adam that only touches the rows of a table that have a gradient.

    A row that a step did not look up stays as it is, and so do its moments. Keras's
    Adam differs here: in each step it lets the moments of all rows fade, and moves all
    rows by them. If a step looks up all rows, both compute the same. If it looks up a
    row several times, the row has one gradient, their sum.

    Kingma, Ba. Adam: A Method for Stochastic Optimization. ICLR 2015, algorithm 1 in
    the order of its section 2, of each row when it has a gradient.

    Args:
        learning_rate: A float or a `keras.optimizers.schedules.LearningRateSchedule`.
        beta_1: How much of the first moment stays in a step.
        beta_2: How much of the second moment stays in a step.
        epsilon: What is added to the square root of the second moment.
        rate_factors: As of `SparseAdagrad`.
        **kwargs: As all Keras optimizers, e.g. `clipnorm`, `weight_decay`.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        name: str = "lazy_adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self._means: list[Any] = []
        self._squares: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        """Makes both moments of all variables."""
        if self.built:
            return
        super().build(variables)
        self._means, self._squares = self.add_optimizer_variables(
            variables, ["momentum", "velocity"]
        )

    def update_together(self, dense: Updates, sparse: Updates) -> None:
        """Updates variables in one op, which adds up several slices of one row."""
        any_target = (dense.targets + sparse.targets)[0]  # They are of one dtype.
        library.recursive_apply_adam(
            means=dense.handles_of(self._means),
            squares=dense.handles_of(self._squares),
            table_means=sparse.handles_of(self._means),
            table_squares=sparse.handles_of(self._squares),
            beta_1=any_target.constant(self.beta_1),
            beta_2=any_target.constant(self.beta_2),
            epsilon=any_target.constant(self.epsilon),
            step=tf.cast(self.iterations + 1, tf.int64),
            **shared_arguments(dense, sparse),
        )

    def update_all(self, gradient: tf.Tensor, target: Target) -> None:
        """Updates all elements of a variable."""
        of_first, of_second = self._powers(target.variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=target.variable.handle,
            m=self._means[target.number].value.handle,
            v=self._squares[target.number].value.handle,
            beta1_power=of_first,
            beta2_power=of_second,
            lr=target.rate,
            beta1=target.constant(self.beta_1),
            beta2=target.constant(self.beta_2),
            epsilon=target.constant(self.epsilon),
            grad=gradient,
        )

    def update_rows(self, gradient: tf.IndexedSlices, target: Target) -> None:
        """Updates some rows of a variable."""
        rows, indices = gradient.values, gradient.indices
        means, squares = self._means[target.number], self._squares[target.number]
        of_first, of_second = self._powers(target.variable.dtype)
        mean = read(means, indices)
        mean += (rows - mean) * (1 - self.beta_1)
        square = read(squares, indices)
        square += (tf.square(rows) - square) * (1 - self.beta_2)
        rate = target.rate * tf.sqrt(1 - of_second) / (1 - of_first)
        step = rate * mean / (tf.sqrt(square) + self.epsilon)
        write(means, indices, mean)
        write(squares, indices, square)
        target.variable.scatter_sub(tf.IndexedSlices(step, indices))

    def _powers(self, dtype: tf.DType) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns each beta to the power of the number of this step."""
        number = tf.cast(self.iterations + 1, dtype)
        betas = tf.constant([self.beta_1, self.beta_2], dtype)
        of_first, of_second = tf.unstack(tf.pow(betas, number))
        return of_first, of_second

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        return {
            **super().get_config(),
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
            "epsilon": self.epsilon,
        }
