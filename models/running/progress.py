"""The progress bar: trees, trees/s, the time that is left."""

from typing import Any

import keras
from tqdm import tqdm

from recursive_tf.training import Position


class Progress(keras.callbacks.Callback):
    """Shows how training goes, and a line an epoch."""

    def __init__(self, trees: int, batch_size: int) -> None:
        """Makes the bar.

        Args:
            trees: How many an epoch has.
            batch_size: Trees a step.
        """
        super().__init__()
        self._trees = trees
        self._batch_size = batch_size
        self._first = Position()
        self._done = 0
        self._bar: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Opens the bar, where training is."""
        self._first = self.params["position"]
        self._bar = tqdm(
            total=self.params["epochs"] * self._trees,
            initial=self._first.epochs * self._trees + self._trees_of_steps(),
            unit=" trees",
            unit_scale=True,
        )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begins to count this epoch's trees."""
        self._done = self._trees_of_steps() if epoch == self._first.epochs else 0

    def on_train_batch_end(self, batch: int, logs: dict[str, float]) -> None:
        """Moves on, by the trees of one step or of several."""
        done = min((batch + 1) * self._batch_size, self._trees)
        self._bar.set_postfix_str(f"loss {logs['loss']:.3f}", refresh=False)
        self._bar.update(done - self._done)
        self._done = done

    def _trees_of_steps(self) -> int:
        return self._first.steps * self._batch_size

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        """Prints what the epoch gave."""
        found = [f"{name} {value:.4g}" for name, value in sorted(logs.items())]
        self._bar.write(f"epoch {epoch + 1}: " + ", ".join(found))

    def on_train_end(self, logs: Any = None) -> None:
        """Closes the bar."""
        self.close()

    def close(self) -> None:
        """Ends the line of the bar, if there is one."""
        if self._bar is not None:
            self._bar.close()
