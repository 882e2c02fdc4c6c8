"""The last epoch's checkpoint, which training goes on from."""

import pathlib
from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from models.running.distribution import Distribution


class LastEpoch(keras.callbacks.Callback):
    """Saves weights, optimizer and the states of random numbers after each epoch.

    A checkpoint counts once it is whole, so a process may end at any moment. Where
    there are several, each restores what the chief saved.

    Attributes:
        epoch: How many epochs are in the last one.
    """

    def __init__(
        self, model: keras.Model, folder: pathlib.Path, distribution: Distribution
    ) -> None:
        """Restores the last checkpoint, if there is one, into a model.

        Args:
            model: It has all its variables.
            folder: The chief's, which all processes see.
            distribution: Whether this is the chief.

        Raises:
            rtf.distribute.ClusterError: If a process does not see what others do.
        """
        super().__init__()
        # Metrics are not in it: to read them is a step of all processes.
        parts = tf.train.Checkpoint(
            weights=_values(model.weights),
            optimizer=_values(model.optimizer.variables),
            states=_states(model),
        )
        self._is_chief = distribution.is_chief
        self._manager = tf.train.CheckpointManager(parts, folder, max_to_keep=1)
        latest = self._manager.latest_checkpoint
        self.epoch = 0
        if latest is not None:
            parts.restore(latest).assert_consumed()
            self.epoch = int(latest.rpartition("-")[2])
        if distribution.is_shared:
            _check_all_see(self.epoch, distribution.strategy)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves."""
        self.epoch = epoch + 1
        if self._is_chief:
            self._manager.save(self.epoch)


def _check_all_see(epoch: int, strategy: tf.distribute.Strategy) -> None:
    @tf.function
    def of_all() -> tf.Tensor:
        return strategy.gather(strategy.run(lambda: tf.constant([epoch])), axis=0)

    found = of_all().numpy().tolist()
    if len(set(found)) > 1:
        raise rtf.distribute.ClusterError(
            f"The last checkpoints of the processes are of epochs {found}. Their "
            "--checkpoint_dir has to be one folder that all of them see."
        )


def _states(model: keras.Model) -> list[tf.Variable]:
    """Returns the states of random numbers, which Keras does not save."""
    saved = {id(variable) for variable in model.weights}
    return _values(v for v in model.variables if id(v) not in saved)


def _values(variables: Iterable[Any]) -> list[tf.Variable]:
    return [variable.value for variable in variables]
