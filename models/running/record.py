"""What each epoch gave: `metrics.jsonl`."""

import json
import os
import pathlib
import time
from typing import Any

import keras

VALIDATION, DEV = "val_", "dev_"


class Record(keras.callbacks.Callback):
    """Writes a line an epoch; begins with the lines of the epochs before.

    `seconds` are of the training steps, without the evaluation; in the first epoch of a
    process they are also TensorFlow's, which traces the step.

    Attributes:
        epochs: What the lines say.
    """

    def __init__(self, path: pathlib.Path, trees: int, first: int) -> None:
        """Reads the lines of `first` epochs.

        Args:
            path: Of the file.
            trees: How many an epoch has.
            first: How many epochs there were. Lines of others are dropped: they were
                written after the last checkpoint.
        """
        super().__init__()
        self._path = path
        self._trees = trees
        self._start = self._end = 0.0
        self.epochs = read(path)[:first] if first else []

    def best(self, name: str, mode: str) -> float | None:
        """Returns the best value of a metric of the development split, if any."""
        found = [epoch[DEV + name] for epoch in self.epochs]
        choose = max if mode == "max" else min
        return choose(found) if found else None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Starts the clock."""
        self._start = time.perf_counter()
        self._end = self._start

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Reads the clock: what comes after the last step is evaluation."""
        self._end = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        """Writes the line."""
        seconds = self._end - self._start
        dev = {
            DEV + name.removeprefix(VALIDATION): float(value)
            for name, value in logs.items()
            if name.startswith(VALIDATION)
        }
        times = {"trees_per_s": self._trees / seconds, "seconds": seconds}
        line = {"epoch": epoch + 1, "loss": float(logs["loss"])} | dev | times
        self.epochs.append(line)
        _write(self._path, self.epochs)


def read(path: pathlib.Path) -> list[dict[str, float]]:
    """Returns what the lines of a record say."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def _write(path: pathlib.Path, lines: list[dict[str, float]]) -> None:
    """Replaces the file at once: a process may end at any moment."""
    new = path.with_suffix(".new")
    new.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.replace(new, path)
