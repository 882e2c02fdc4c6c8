"""AdaGrad for embeddings of which a step uses a few rows."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.optimizers.sparse_optimizer import (
    SparseOptimizer,
    Target,
    Updates,
    shared_arguments,
)


@keras.saving.register_keras_serializable("recursive_tf")
class SparseAdagrad(SparseOptimizer):
    """AdaGrad that only touches the rows of a table that have a gradient.

    If a step looks up each row of a table at most once, it computes the same as
    `keras.optimizers.Adagrad`: a row without a gradient stays as it is. Here, a step
    costs only the rows that it looked up, and not the whole table. If a step looks up a
    row several times, the row has one gradient, their sum.

    Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and
    Stochastic Optimization. JMLR 2011; the diagonal form.

    >>> import keras
    >>> from recursive_tf.optimizers import SparseAdagrad
    >>> SparseAdagrad(0.05, rate_factors={"embedding": 2.0}).rate_factors
    {'embedding': 2.0}

    Args:
        learning_rate: A float or a `keras.optimizers.schedules.LearningRateSchedule`.
        initial_accumulator_value: What the sums of squares start with.
        epsilon: What is added to them before their square root is taken.
        rate_factors: By a regular expression that is found in `variable.path`, what the
            learning rate of these variables is multiplied by; 0 leaves them as they
            are. Others have factor 1.
        **kwargs: As all Keras optimizers, e.g. `clipnorm`, `weight_decay`.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        name: str = "sparse_adagrad",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon
        self._sums: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        """Makes the sums of squares, with epsilon in them from the start.

        So TensorFlow's fused kernels, which add epsilon after the square root, compute
        what Keras does.
        """
        if self.built:
            return
        super().build(variables)
        start = self.initial_accumulator_value + self.epsilon
        self._sums = self.add_optimizer_variables(
            variables, "accumulator", initializer=keras.initializers.Constant(start)
        )

    def update_together(self, dense: Updates, sparse: Updates) -> None:
        """Updates variables in one op, which adds up several slices of one row."""
        library.recursive_apply_adagrad(
            sums=dense.handles_of(self._sums),
            table_sums=sparse.handles_of(self._sums),
            **shared_arguments(dense, sparse),
        )

    def update_all(self, gradient: tf.Tensor, target: Target) -> None:
        """Updates all elements of a variable."""
        tf.raw_ops.ResourceApplyAdagradV2(**self._arguments(target), grad=gradient)

    def update_rows(self, gradient: tf.IndexedSlices, target: Target) -> None:
        """Updates some rows of a variable."""
        tf.raw_ops.ResourceSparseApplyAdagradV2(
            **self._arguments(target), grad=gradient.values, indices=gradient.indices
        )

    def _arguments(self, target: Target) -> dict[str, Any]:
        return {
            "var": target.variable.handle,
            "accum": self._sums[target.number].value.handle,
            "lr": target.rate,
            "epsilon": target.constant(0),
        }

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        return {
            **super().get_config(),
            "initial_accumulator_value": self.initial_accumulator_value,
            "epsilon": self.epsilon,
        }
