"""One run of a model, measured on several splits after each epoch.

    python -m benchmarks.accuracy.one_run '{"model": "rntn", ...}' runs/accuracy/rntn-0

`python -m benchmarks.accuracy` starts it, in a process of its own. It learns as the
model's script does. A run that was stopped goes on from its last checkpoint.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.accuracy.choosing import chosen
from models import rntn, tree_lstm, tree_rnn
from models.running.held_out import HELD_OUT, read
from models.running.settings import Settings
from models.running.task import Task
from models.running.training import train
from recursive_tf.training import Run, RunFolder, replaced

TASKS = {module.TASK.name: module.TASK for module in (tree_rnn, rntn, tree_lstm)}


class Splits(keras.callbacks.Callback):
    """Measures the model on splits after each epoch, and writes a line of JSON."""

    def __init__(self, task: Task, settings: Settings, folder: RunFolder) -> None:
        """Remembers what to read when the words of the run are there.

        Args:
            task: The model.
            settings: Of the run.
            folder: Of the run.
        """
        super().__init__()
        self._task, self._settings, self._folder = task, settings, folder
        self._file = folder.path / "splits.jsonl"
        self._batches: dict[str, tf.data.Dataset] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        """Reads the splits that there are."""
        words = self._folder.load_words()
        for split in splits_of(self._settings):
            trees = read(self._task, self._settings, split)
            encoded = rtf.data.encode(trees, tokens=words)
            self._batches[split] = rtf.data.batches(
                encoded, rtf.training.EVALUATION_BATCH
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Measures, and replaces what the file says of this epoch and later ones."""
        found = {
            split: self.model.evaluate(batches, return_dict=True, verbose=0)
            for split, batches in self._batches.items()
        }
        lines = [line for line in self.epochs() if line["epoch"] <= epoch]
        lines.append({"epoch": epoch + 1, **found})
        with replaced(self._file) as new:
            new.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def epochs(self) -> list[dict[str, Any]]:
        """Returns what the file says."""
        if not self._file.exists():
            return []
        return [json.loads(line) for line in self._file.read_text().splitlines()]


def splits_of(settings: Settings) -> list[str]:
    """Returns the splits that a run can be measured on."""
    held_out = [HELD_OUT] if settings.hold_out else []
    if settings.data is None:
        return [*held_out, "dev", "test"]
    has_test = (pathlib.Path(settings.data) / "test.txt").exists()
    return [*held_out, "dev", *(["test"] if has_test else [])]


def settings_of(asked: Mapping[str, Any]) -> Settings:
    """Returns the settings of the model's script, with what was asked for."""
    task = TASKS[asked["model"]]
    given = {name: value for name, value in asked.items() if name != "model"}
    base = task.given if given.get("data") else task.generated
    return dataclasses.replace(base, **given)


def main(arguments: Sequence[str]) -> None:
    """Trains, and writes `accuracy.json`: the epochs that were chosen."""
    asked, folder = json.loads(arguments[0]), RunFolder(pathlib.Path(arguments[1]))
    if len(arguments) > 2:  # Before there are threads.
        os.sched_setaffinity(0, {int(core) for core in arguments[2].split(",")})
    task, settings = TASKS[asked["model"]], settings_of(asked)
    splits = Splits(task, settings, folder)
    with Run(folder) as run:
        train(task, settings, run, callbacks=[splits])
        found = {"asked": asked, "by": chosen(splits.epochs(), settings.labels)}
        with replaced(folder.path / "accuracy.json") as new:
            new.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
