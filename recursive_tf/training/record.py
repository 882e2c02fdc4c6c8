"""What each epoch gave: `metrics.jsonl`."""

import json
import os
import pathlib
import time
from typing import Any

import keras

from recursive_tf.training.files import LOG, replaced

Line = dict[str, float]
VALIDATION, DEV = "val_", "dev_"
NEEDED = {"epoch", "loss", "trees_per_s", "seconds"}


class Record(keras.callbacks.Callback):
    """Writes a line of JSON an epoch; begins with the lines of the epochs before.

    A line has the number of the epoch, the `loss`, what Keras calls `val_...` as
    `dev_...`, `trees_per_s` and `seconds`. Keras's `CSVLogger` adds to a file: after a
    kill between a line and its checkpoint, it would have the line twice.

    `seconds` are of the training steps, without the evaluation; in the first epoch of a
    process they are also TensorFlow's, which traces the step. An epoch that a callback
    ends before its last step has no line.

    >>> import tempfile
    >>> import tensorflow as tf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> model = keras.Sequential([keras.Input([1]), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> batches = tf.data.Dataset.from_tensor_slices(([[1.0]] * 4, [1.0] * 4)).batch(2)
    >>> record = Record(folder / "metrics.jsonl", trees=4, first=0)
    >>> _ = model.fit(batches, validation_data=batches, shuffle=False, verbose=0,
    ...               callbacks=[record])
    >>> sorted(record.epochs[0])
    ['dev_loss', 'epoch', 'loss', 'seconds', 'trees_per_s']

    Attributes:
        epochs: What the lines say.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        trees: int,
        first: int,
        seconds: float = 0.0,
    ) -> None:
        """Reads the lines of `first` epochs.

        Args:
            path: Of the file.
            trees: How many an epoch has.
            first: How many epochs there were. Lines of others are dropped: they were
                written after the last checkpoint. Those that are cut are, too, and
                the user is told.
            seconds: How long the steps took that are done of the next.
        """
        super().__init__()
        self._first, self._seconds = first, seconds
        self._path = path = pathlib.Path(path)
        self._trees = trees
        self._start = self._end = 0.0
        self._taken = 0
        self.epochs = [line for line in read(path) if line["epoch"] <= first]
        if len(self.epochs) < first:
            LOG.warning(
                "%s has whole lines of %d of %d epochs: it was cut, and goes on "
                "without the others.",
                path,
                len(self.epochs),
                first,
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Starts the clock."""
        self._taken = 0
        self._end = time.perf_counter()
        before = self._seconds if epoch == self._first else 0.0
        self._start = self._end - before

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Reads the clock: what comes after the last step is evaluation."""
        self._taken = batch + 1
        self._end = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        """Writes the line, if all steps of the epoch were taken."""
        if self._taken < ((self.params or {}).get("steps") or 0):
            return
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


def read(path: pathlib.Path) -> list[Line]:
    """Returns what the whole lines of a record say."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    return [found for line in text.splitlines() if (found := _parsed(line))]


def _parsed(line: str) -> Line | None:
    """Returns what a line says, or None if it was cut."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    is_whole = isinstance(found, dict) and found.keys() >= NEEDED
    return found if is_whole else None


def _write(path: pathlib.Path, lines: list[Line]) -> None:
    with replaced(path) as new:
        new.write_text("".join(json.dumps(line) + "\n" for line in lines))
