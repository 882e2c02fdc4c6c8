"""The last epoch's checkpoint, which training goes on from."""

import pathlib
from typing import Any

import keras
import tensorflow as tf


class LastEpoch(keras.callbacks.Callback):
    """Saves weights, optimizer and the states of random numbers after each epoch.

    A checkpoint counts once it is whole, so a process may end at any moment.

    Attributes:
        epoch: How many epochs are in the last one.
    """

    def __init__(self, model: keras.Model, folder: pathlib.Path) -> None:
        """Restores the last checkpoint, if there is one, into a model."""
        super().__init__()
        parts = tf.train.Checkpoint(
            model=model, optimizer=model.optimizer, states=_states(model)
        )
        self._manager = tf.train.CheckpointManager(parts, folder, max_to_keep=1)
        latest = self._manager.latest_checkpoint
        self.epoch = 0
        if latest is not None:
            parts.restore(latest).assert_consumed()
            self.epoch = int(latest.rpartition("-")[2])

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves."""
        self.epoch = epoch + 1
        self._manager.save(self.epoch)


def _states(model: keras.Model) -> list[tf.Variable]:
    """Returns the states of random numbers, which Keras does not save."""
    saved = {id(variable) for variable in model.weights}
    return [v.value for v in model.variables if id(v) not in saved]
