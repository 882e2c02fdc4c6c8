"""Keras's `fit` and `evaluate` under the strategies of `tf.distribute`.

Keras 3.15 builds models from the mean of what replicas get, which forests have not, and
which fails for tensors too if there are several workers; several steps an execution
fail under a MirroredStrategy. Both are replaced for one model at a time.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import keras
import tensorflow as tf

from recursive_tf.distribute.slices import added_up
from recursive_tf.python import tf_compat

Model = TypeVar("Model", bound=keras.Model)
Logs = dict[str, tf.Tensor]


def enable_fit(model: Model) -> Model:
    """Lets `fit` and `evaluate` of a model take forests under its strategy.

    The strategy is the one in whose scope the model was made: a MirroredStrategy or a
    MultiWorkerMirroredStrategy. `model.steps_per_execution` may be set. After each
    step, callbacks see the metrics of this worker's replicas. At the end of an epoch,
    they see those of all replicas.

    Args:
        model: With all its variables, compiled.

    Returns:
        The model.

    Raises:
        ValueError: If there are layers without their variables, or the strategy is a
            ParameterServerStrategy, under which Keras 3 has no `fit`.
    """
    if model._distribute_strategy is None:
        return model  # Made in no scope: Keras does all of it.
    strategy = model.distribute_strategy
    if isinstance(strategy, tf.distribute.experimental.ParameterServerStrategy):
        raise ValueError(
            "Keras 3 has no `fit` under a ParameterServerStrategy. Schedule steps of "
            "your own with a ClusterCoordinator, as in docs/distributed.md."
        )
    missing = [layer.name for layer in model._flatten_layers() if not layer.built]
    if missing:
        raise ValueError(
            f"Without their variables yet: {', '.join(missing)}. Call the model with a "
            "batch in the scope of the strategy, or `build` it, before enable_fit."
        )
    model._maybe_symbolic_build = functools.partial(_build, model)
    for kind in ("train", "test"):
        setattr(model, f"make_{kind}_function", functools.partial(_make, model, kind))
    _add_up_slices(model.optimizer)
    return model


def _add_up_slices(optimizer: keras.Optimizer) -> None:
    """Gives each row of a table one gradient, the sum of what replicas have.

    Of one replica a row has one slice already. Keras's optimizers put those of all
    replicas behind each other, and square each by itself.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    sum_of_all = optimizer._all_reduce_sum_gradients
    if (
        getattr(sum_of_all, "__func__", None)
        is not keras.Optimizer._all_reduce_sum_gradients
    ):
        return  # One of ours, which adds up itself; or it was done before.

    def sums(grads_and_vars: Any) -> list[tuple[Any, Any]]:
        return [(added_up(g), variable) for g, variable in sum_of_all(grads_and_vars)]

    optimizer._all_reduce_sum_gradients = sums


def _build(model: keras.Model, iterator: Any = None, data_batch: Any = None) -> None:
    """Makes what `compile` left for the first batch, by a replica's part of it."""
    del data_batch
    spec = None
    if iterator is not None:
        # Of what it is, and not of a batch: that would begin a pass, and a dataset that
        # is shuffled has another order in the next.
        dataset = iterator.data_adapter.get_tf_dataset()
        spec = tf_compat.spec_of_one_replica(dataset.element_spec)
    make_variables(model, spec)
    model._post_build()


def make_variables(model: keras.Model, spec: Any) -> None:
    """Makes all variables that Keras's `fit` makes of its first batch.

    Args:
        model: Compiled.
        spec: Of what a replica gets in a step; None if that is not known, which makes
            no variables of metrics and losses.

    Raises:
        ValueError: If a loss or a metric takes labels, and there are none.
    """
    waiting = [model._compile_metrics, model._compile_loss]
    waiting = [part for part in waiting if part is not None and not part.built]
    is_built = all(layer.built for layer in model._flatten_layers())
    with model.distribute_strategy.scope():
        if spec is not None and (waiting or not is_built):
            x, y, _ = keras.utils.unpack_x_y_sample_weight(spec)
            if waiting and y is None:
                raise ValueError(
                    f"{model.name} is compiled with a loss or a metric of labels, and "
                    "gets forests alone. Give it pairs: "
                    "batches.map(lambda forest: (forest, forest.labels)), or the same "
                    "function as prepare= of Run.fit."
                )
            outputs = _outputs(model, x)
            y, y_pred = tf.nest.map_structure(_symbolic, (y, outputs))
            for part in waiting:
                part.build(y, y_pred)
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)


def lacks_variables(model: keras.Model) -> bool:
    """Whether a compiled model waits for its first batch to make variables."""
    parts = (model.optimizer, model._compile_metrics, model._compile_loss)
    waiting = [part for part in parts if part is not None and not part.built]
    return bool(waiting) or not all(layer.built for layer in model._flatten_layers())


def _outputs(model: keras.Model, spec: Any) -> Any:
    """Returns what stands for the outputs of a model, by the spec of its input."""
    call = tf.function(functools.partial(model, training=False), autograph=False)
    return call.get_concrete_function(spec).structured_outputs


def _symbolic(like: tf.Tensor | tf.TensorSpec) -> keras.KerasTensor:
    shape = (None, *like.shape[1:]) if like.shape.rank else ()
    return keras.KerasTensor(shape, like.dtype.name)


def _make(model: keras.Model, kind: str, force: bool = False) -> None:
    """As `keras.Model.make_train_function` and `make_test_function`."""
    name = f"{kind}_function"
    if force or getattr(model, name) is None:
        setattr(model, name, _steps(model, getattr(model, f"{kind}_step")))


def _steps(model: keras.Model, step: Callable[[Any], Any]) -> Callable[[Any], Logs]:
    """Returns a function of an iterator, which takes some steps.

    A call of TensorFlow is one step: within a call, collectives of several workers
    have to be of the same shapes each time, and gradients of embeddings are not.

    Args:
        model: It says how many steps.
        step: What a replica does with its part of a batch.
    """
    strategy = model.distribute_strategy
    taken = _Taken()

    @tf.autograph.experimental.do_not_convert
    def take(iterator: Any) -> None:
        strategy.run(step, args=(iterator.get_next(),))

    @tf.autograph.experimental.do_not_convert
    def logs() -> Logs:
        found: Logs = _of_one_replica(strategy, strategy.run(model.get_metrics_result))
        return found

    if not model.run_eagerly:
        take = tf.function(take, reduce_retracing=True)
        logs = tf.function(logs)

    def function(iterator: Any) -> Logs:
        for _ in range(taken.next(iterator, model.steps_per_execution)):
            take(iterator)
        found: Logs = logs()
        return found

    return function


class _Taken:
    """How many steps were taken of an iterator, so that none is taken past its end.

    An error of one worker ends the collectives of all.
    """

    def __init__(self) -> None:
        self._iterator: Any = None
        self._steps = 0

    def next(self, iterator: Any, limit: int) -> int:
        """Returns how many there are, up to a limit; 1 if nobody knows."""
        if iterator is not self._iterator:
            self._iterator, self._steps = iterator, 0
        total = getattr(iterator, "cardinality", -1)
        if total < 0:
            return 1  # An end in the midst of some would lose what they found.
        steps = min(limit, total - self._steps)
        self._steps += steps
        return steps


def _of_one_replica(strategy: tf.distribute.Strategy, value: Any) -> Any:
    return tf.nest.map_structure(
        lambda part: strategy.experimental_local_results(part)[0], value
    )
