"""Counts and sums of a model that many workers add to at the same time.

Keras 3 adds to a variable by reading it and assigning the sum. Where workers do not
wait for each other, one assigns what misses what another has added in between.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import keras

Model = TypeVar("Model", bound=keras.Model)

# What these hold are sums of what each update adds.
_SUMS = (keras.metrics.Mean, keras.metrics.Sum)


def add_at_once(model: Model) -> Model:
    """Makes steps of workers that do not wait for each other lose no additions.

    Steps add to the optimizer's counter, and to metrics that are means or sums, among
    them the loss. These additions are made where the variable is. Other metrics stay as
    they are.

    Args:
        model: Compiled.

    Returns:
        The model.
    """
    steps = model.optimizer.iterations
    steps.assign_add = functools.partial(_add, steps)
    for metric in model.metrics:
        _add_to_sums(metric)
    return model


def _add_to_sums(metric: keras.Metric) -> None:
    if isinstance(metric, _SUMS):
        # Its class's, which stays as it is if this is done once more.
        update = functools.partial(type(metric).update_state, metric)
        metric.update_state = functools.partial(_update, metric, update)
    elif getattr(metric, "built", True):
        for part in getattr(metric, "metrics", ()):
            _add_to_sums(part)
    else:  # Those of `compile`, which the first step makes.
        build = metric.build

        def build_and_add(*args: Any) -> None:
            build(*args)
            for part in metric.metrics:
                _add_to_sums(part)

        metric.build = build_and_add


def _add(variable: keras.Variable, value: Any) -> Any:
    return variable.value.assign_add(keras.ops.cast(value, variable.dtype))


def _update(
    metric: keras.Metric, update: Callable[..., Any], *args: Any, **kwargs: Any
) -> None:
    """Updates a metric of zeros, beside this one, and adds what that makes of them."""
    zeros = [(v, keras.ops.zeros(v.shape, v.dtype)) for v in metric.variables]
    with keras.StatelessScope(state_mapping=zeros) as scope:
        update(*args, **kwargs)
    for variable in metric.variables:
        _add(variable, scope.get_current_value(variable))
