"""The last epochs' checkpoints, which training goes on from."""

import contextlib
import pathlib
import re
from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from models.running.distribution import Distribution
from models.running.files import ANOTHER_RUN, LOST, RunError, damaged, note, writing

# The last one, and one to fall back to.
KEPT = 2
OTHER_SHAPES = "incompatible tensor with shape"
_INDEX = re.compile(r"ckpt-(\d+)\.index")


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

        One that is damaged is passed over for the one before, and the user is told.

        Args:
            model: It has all its variables.
            folder: The chief's, which all processes see.
            distribution: Whether this is the chief.

        Raises:
            RunError: If there are checkpoints, and none can be restored.
            rtf.distribute.ClusterError: If a process does not see what others do.
        """
        super().__init__()
        # Metrics are not in it: to read them is a step of all processes.
        self._parts = tf.train.Checkpoint(
            weights=_values(model.weights),
            optimizer=_values(model.optimizer.variables),
            states=_states(model),
        )
        self._is_chief = distribution.is_chief
        self._folder = folder
        self.epoch = self._restore()
        if distribution.is_shared:
            _check_all_see(self.epoch, distribution.strategy)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves."""
        self.epoch = epoch + 1
        if not self._is_chief:
            return
        with writing(self._folder):
            try:
                self._parts.write(str(self._path(self.epoch)))
            except BaseException:
                self._remove(self.epoch)  # Room for what else is to be written.
                raise
        for old in epochs_in(self._folder)[KEPT:]:
            self._remove(old)

    def _restore(self) -> int:
        """Returns how many epochs are in what was restored."""
        failed: list[RunError] = []
        for epoch in epochs_in(self._folder):
            try:
                found = self._parts.read(str(self._path(epoch)))
                found.assert_existing_objects_matched()
            except LOST:
                raise
            except Exception as error:  # Of damaged bytes it is of many types.
                why = getattr(error, "message", "") or str(error)
                why = why.partition("\n")[0].rstrip(".")
                if OTHER_SHAPES in why:
                    raise RunError(
                        f"{self._path(epoch)} does not fit the model: the training "
                        "trees are not those that the run began with. Put these back, "
                        f"or {ANOTHER_RUN}."
                    ) from None
                failed.append(damaged(self._path(epoch), why))
                continue
            if failed:
                note(f"{failed[0]} Training goes on from epoch {epoch}.")
            return epoch
        if failed:
            raise failed[0]
        return 0

    def _path(self, epoch: int) -> pathlib.Path:
        return self._folder / f"ckpt-{epoch}"

    def _remove(self, epoch: int) -> None:
        for part in self._folder.glob(f"ckpt-{epoch}[._]*"):
            with contextlib.suppress(OSError):
                part.unlink()


def epochs_in(folder: pathlib.Path) -> list[int]:
    """Returns the epochs that have checkpoints, the last one first.

    The file of a checkpoint that is looked for here is the one that is written last.
    """
    found = (_INDEX.fullmatch(path.name) for path in folder.glob("ckpt-*.index"))
    return sorted((int(name[1]) for name in found if name), reverse=True)


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
