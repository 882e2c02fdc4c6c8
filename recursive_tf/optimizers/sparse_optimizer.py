"""What optimizers that update only the rows that a step uses have in common."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from recursive_tf.distribute.slices import added_up
from recursive_tf.distribute.sums import has_replicas
from recursive_tf.optimizers.replicated import ReplicatedOptimizer


class Target(NamedTuple):
    """What is updated in one replica.

    Attributes:
        variable: The variable.
        number: Its place among those that the optimizer was built for.
        rate: Its learning rate, a scalar of its dtype.
    """

    variable: tf.Variable
    number: int
    rate: tf.Tensor

    def constant(self, value: float) -> tf.Tensor:
        """Returns a number in the variable's dtype."""
        return tf.constant(value, self.variable.dtype)


class Updates(NamedTuple):
    """What one op updates.

    Attributes:
        gradients: Tensors, or `tf.IndexedSlices` of which some may be of one row.
        targets: As many.
    """

    gradients: list[Any]
    targets: list[Target]

    def handles(self) -> list[tf.Tensor]:
        """Returns the handles of the variables."""
        return [target.variable.handle for target in self.targets]

    def handles_of(self, slots: Sequence[Any]) -> list[tf.Tensor]:
        """Returns the handles of what an optimizer keeps of the variables."""
        return [slots[target.number].value.handle for target in self.targets]

    def rates(self) -> list[tf.Tensor]:
        """Returns the learning rates."""
        return [target.rate for target in self.targets]


def shared_arguments(dense: Updates, sparse: Updates) -> dict[str, list[tf.Tensor]]:
    """Returns what each op that updates all variables takes, whatever it keeps."""
    return {
        "variables": dense.handles(),
        "gradients": dense.gradients,
        "rates": dense.rates(),
        "tables": sparse.handles(),
        "rows": [slices.values for slices in sparse.gradients],
        "indices": _of_one_dtype([slices.indices for slices in sparse.gradients]),
        "table_rates": sparse.rates(),
    }


def _of_one_dtype(indices: list[tf.Tensor]) -> list[tf.Tensor]:
    """Returns indices as they are, if they are of one dtype already."""
    dtypes = {tensor.dtype for tensor in indices}
    dtype = dtypes.pop() if len(dtypes) == 1 else tf.int64
    return [tf.cast(tensor, dtype) for tensor in indices]


class SparseOptimizer(ReplicatedOptimizer):
    """Updates rows of `tf.IndexedSlices`, and all rows of other gradients.

    On a CPU one op updates all variables, `update_together`. Elsewhere `update_rows`
    and `update_all` update one each.

    With `gradient_accumulation_steps` or `loss_scale_factor` gradients become whole
    tables; with `keras.optimizers.LossScaleOptimizer` they stay as they are.

    Keras 3's own optimizers take the square root of a whole table of sums in each
    step, and take several slices of one row for as many gradients. TensorFlow
    Addons, which had such optimizers for Keras 2, has ended.
    """

    def __init__(
        self, *args: Any, rate_factors: Mapping[str, float] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.rate_factors = dict(rate_factors or {})
        self._factors: list[float] = []

    def build(self, variables: Sequence[Any]) -> None:
        """Makes the variables of the optimizer.

        Raises:
            ValueError: If a pattern of `rate_factors` is of no variable, or two of
                them are of one.
        """
        if self.built:
            return
        self._factors = _factors_of(variables, self.rate_factors)
        super().build(variables)

    def apply(
        self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None
    ) -> None:
        """Updates variables: see `keras.optimizers.Optimizer.apply`."""
        if self.gradient_accumulation_steps or self.loss_scale_factor:
            # Keras adds up whole tables, and divides no slices.
            grads = [g if g is None else tf.convert_to_tensor(g) for g in grads]
        super().apply(grads, trainable_variables)

    def _backend_update_step(
        self, grads: Sequence[Any], trainable_variables: Sequence[Any], rate: Any
    ) -> None:
        """Updates all variables: in one go if one op can, or one by one."""
        if has_replicas():
            super()._backend_update_step(grads, trainable_variables, rate)
            return
        # Keras also takes TensorFlow's variables, whose `value` is a method.
        variables = [
            each.value if isinstance(each, keras.Variable) else each
            for each in trainable_variables
        ]
        if _are_together(variables):
            # Once: each cast of a variable reads it.
            rate = tf.cast(rate, variables[0].dtype)
            targets = [self._target(each, rate) for each in variables]
            self.update_together(*_dense_and_sparse(grads, targets))
            return
        if not self.clips:
            grads = [added_up(gradient) for gradient in grads]
        super()._backend_update_step(grads, trainable_variables, rate)

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable, in one replica."""
        target = self._target(variable, learning_rate)
        gradient = tf.cast(gradient, variable.dtype)
        if not isinstance(gradient, tf.IndexedSlices):
            self.update_all(gradient, target)
            return
        self.update_rows(gradient, target)

    def _target(self, variable: Any, learning_rate: Any) -> Target:
        number = self._get_variable_index(variable)
        rate = tf.cast(learning_rate, variable.dtype)
        if self._factors[number] != 1:
            rate *= self._factors[number]
        return Target(variable, number, rate)

    def update_together(self, dense: Updates, sparse: Updates) -> None:
        """Updates all variables; a row of a gradient may be there several times."""
        raise NotImplementedError

    def update_all(self, gradient: tf.Tensor, target: Target) -> None:
        """Updates all elements of a variable."""
        raise NotImplementedError

    def update_rows(self, gradient: tf.IndexedSlices, target: Target) -> None:
        """Updates some rows of a variable, of which the gradient has each once."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        return {**super().get_config(), "rate_factors": self.rate_factors}


def _are_together(variables: Sequence[Any]) -> bool:
    """Returns whether one op on a CPU can update variables."""
    if tf.distribute.has_strategy():
        return False
    alike = {(each.dtype, each.device) for each in variables}
    if len(alike) != 1:
        return False
    ((dtype, device),) = alike
    return dtype in (tf.float32, tf.float64) and "GPU" not in device


def _dense_and_sparse(
    gradients: Sequence[Any], targets: Sequence[Target]
) -> tuple[Updates, Updates]:
    dense, sparse = Updates([], []), Updates([], [])
    for gradient, target in zip(gradients, targets, strict=True):
        updates = sparse if isinstance(gradient, tf.IndexedSlices) else dense
        updates.gradients.append(tf.cast(gradient, target.variable.dtype))
        updates.targets.append(target)
    return dense, sparse


def _factors_of(
    variables: Sequence[Any], rate_factors: Mapping[str, float]
) -> list[float]:
    paths = [getattr(variable, "path", variable.name) for variable in variables]
    factors = [1.0] * len(paths)
    owners: dict[str, str] = {}
    for pattern, factor in rate_factors.items():
        found = [i for i, path in enumerate(paths) if re.search(pattern, path)]
        if not found:
            raise ValueError(
                f"rate_factors has {pattern!r}, which is in no path of a trainable "
                f"variable. There are: {', '.join(paths)}."
            )
        for i in found:
            if paths[i] in owners:
                raise ValueError(
                    f"rate_factors has {owners[paths[i]]!r} and {pattern!r}, and both "
                    f"are in the path of {paths[i]!r}. Make one of them longer."
                )
            owners[paths[i]] = pattern
            factors[i] = factor
    return factors
