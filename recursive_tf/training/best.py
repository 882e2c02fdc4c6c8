"""The model of the best epoch: `best.keras`."""

import dataclasses
import functools
import json
import math
import os
import pathlib
import zipfile
from collections.abc import Iterable
from typing import Any, Literal

import keras
import tensorflow as tf

from recursive_tf.training.files import LOG, RunError, replaced
from recursive_tf.training.record import DEV, Line, Record

MODES = ("max", "min")
# What the file of a model has beside what Keras saves: the line of its epoch.
LINE = "epoch.json"


@dataclasses.dataclass(frozen=True)
class Monitor:
    """What decides which epoch is the best.

    Attributes:
        name: A metric of the model, on the development split, e.g. "accuracy".
        mode: "max" or "min".
    """

    name: str
    mode: Literal["max", "min"]

    def __post_init__(self) -> None:
        """Checks the mode."""
        if self.mode not in MODES:
            raise ValueError(f"mode={self.mode!r}: choose one of {MODES}.")

    def check(self, model: keras.Model) -> None:
        """Checks that a model has the metric.

        What a `test_step` of its own returns is only known after an epoch.

        Args:
            model: Compiled, with all its variables.

        Raises:
            ValueError: If it does not.
        """
        if type(model).test_step is keras.Model.test_step:
            self.check_is_one_of(names_of_metrics(model))

    def check_is_one_of(self, names: Iterable[str]) -> None:
        """Checks that the metric is one of these.

        Raises:
            ValueError: If it is not.
        """
        if self.name not in names:
            raise ValueError(
                f"The model has no metric {self.name}, which is to decide which epoch "
                f"is the best. It has {', '.join(sorted(names))}."
            )


class BestEpoch(keras.callbacks.Callback):
    """Saves the model after each epoch that is better than all before.

    Keras's `ModelCheckpoint` does not know which model is there when training goes on,
    and a kill while it writes leaves half a file. Here the file itself says it: beside
    the model it has the record's line of the epoch.

    An epoch whose figure is no number is worse than all others; the first one is saved
    whatever it is.

    >>> import tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> model = keras.Sequential([keras.Input([1]), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> batches = tf.data.Dataset.from_tensor_slices(([[1.0]] * 4, [1.0] * 4)).batch(2)
    >>> record = Record(folder / "metrics.jsonl", trees=4, first=0)
    >>> best = BestEpoch(folder / "best.keras", record, Monitor("loss", "min"))
    >>> _ = model.fit(batches, validation_data=batches, epochs=3, shuffle=False,
    ...               verbose=0, callbacks=[record, best])  # The record comes first.
    >>> best.line == min(record.epochs, key=lambda line: line["dev_loss"])
    True
    >>> keras.models.load_model(folder / "best.keras").count_params()
    2

    Attributes:
        line: What the record said of the epoch whose model is saved; None if none is.
    """

    def __init__(
        self, path: str | os.PathLike[str], record: Record, monitor: Monitor
    ) -> None:
        """Reads of which epoch the model is that is there.

        Args:
            path: Of the model.
            record: It comes before this one among callbacks.
            monitor: What decides.
        """
        super().__init__()
        self._path = path = pathlib.Path(path)
        self._record = record
        self._monitor = monitor
        self._name = DEV + monitor.name
        self._sign = 1 if monitor.mode == "max" else -1
        self.line = line_of(path)
        if self.line is None and record.epochs:
            LOG.warning(
                "%s is not there or damaged: the best one of the epochs to come is "
                "kept there.",
                path,
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves the model if the epoch is done, and better.

        Raises:
            ValueError: If the model has no such metric.
        """
        if not self._record.epochs or self._record.epochs[-1]["epoch"] != epoch + 1:
            return
        line = self._record.epochs[-1]
        there = [n.removeprefix(DEV) for n in line if n.startswith(DEV)]
        self._monitor.check_is_one_of(there)
        if self._is_better(line):
            with replaced(self._path) as new:
                self.model.save(new)
                with zipfile.ZipFile(new, "a") as file:
                    file.writestr(LINE, json.dumps(line))
            self.line = line

    def _is_better(self, line: Line) -> bool:
        if self.line is None or self.line["epoch"] == line["epoch"]:
            return True  # The same epoch, if training was stopped before a checkpoint.
        return self._rank(line) > self._rank(self.line)

    def _rank(self, line: Line) -> float:
        value = self._sign * line.get(self._name, math.nan)
        return -math.inf if math.isnan(value) else value


def names_of_metrics(model: keras.Model) -> list[str]:
    """Returns the names of what a compiled model measures.

    Nothing is computed: of several processes each may ask by itself.
    """
    strategy = model.distribute_strategy
    found = model.get_metrics_result
    if strategy.num_replicas_in_sync > 1:  # Of one replica: all is an exchange.
        found = functools.partial(strategy.run, found)
    trace = tf.function(found, autograph=False)
    return list(trace.get_concrete_function().structured_outputs)


def is_whole(path: pathlib.Path) -> bool:
    """Whether a file is a model as it was saved, by its checksums."""
    try:
        with zipfile.ZipFile(path) as file:
            return file.testzip() is None
    except Exception:  # Damaged bytes may be any error of zipfile's.
        return False


def line_of(path: pathlib.Path) -> Line | None:
    """Returns the line of the epoch whose model a file has; None if it has none."""
    if not is_whole(path):
        return None
    with zipfile.ZipFile(path) as file:
        if LINE not in file.namelist():
            return None
        line: Line = json.loads(file.read(LINE))
        return line


def load(path: pathlib.Path) -> keras.Model:
    """Returns the model that was saved.

    Raises:
        RunError: If the file is damaged or not there, or Keras cannot load all weights.
    """
    if not path.exists():
        raise RunError(
            f"{path} is not there. A run writes it when its first epoch is done: put "
            "back a copy of it, or let the run go on for more epochs."
        )
    if not is_whole(path):
        cure = "let the run go on for more epochs, which writes another"
        raise RunError.damaged(path, "it is cut, or not what was written", cure)
    model = keras.models.load_model(path)
    unbuilt = [layer.name for layer in model.layers if not layer.built]
    if unbuilt:  # Keras lets them have new weights, and only warns.
        raise RunError(
            f"The weights in {path} are not all loaded: Keras could not build "
            f"{', '.join(unbuilt)} from the shapes of the model's inputs. Give "
            f"{type(model).__name__} a build_from_config(self, config) that calls the "
            "model with any tree."
        )
    return model
