"""Why the share of reviews that are right jumps from epoch to epoch.

    python -m benchmarks.accuracy.reviews imdb runs/a runs/reviews    # runs/a: labeler

Trains the TreeLSTM on reviews whose nodes the model of another run labels, as
`models.tree_lstm --data=imdb --labeler=runs/a` does. After each epoch it prints a row:
how often nodes and roots are right, and how roots would do with another border between
their scores. A command that was stopped goes on, and prints the rows that were left.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np

import recursive_tf as rtf
from benchmarks.yardstick.tables import table
from models.running.training import train
from models.sentiment.settings import SentimentSettings
from models.tree_lstm import TASK
from recursive_tf.data import Forest
from recursive_tf.training import Run, RunFolder

BATCH = 64
HEADER = (
    "epoch",
    "nodes right",
    "roots right",
    "roots called positive",
    "roots right, best border",
    "roots ranked right",
)


def of_roots(scores: np.ndarray, is_positive: np.ndarray) -> dict[str, float]:
    """Returns shares of reviews, and of pairs of a positive and a negative one.

    >>> found = of_roots(np.array([3.0, 2.0, 1.0]), np.array([True, False, False]))
    >>> {name: round(share, 2) for name, share in found.items()}
    {'right': 0.33, 'called_positive': 1.0, 'best_border': 1.0, 'ranked': 1.0}

    Args:
        scores: Above 0 for what the model calls positive.
        is_positive: What the reviews are.
    """
    borders = np.append(scores, -np.inf)
    at_best = max(np.mean((scores > border) == is_positive) for border in borders)
    above = scores[is_positive][:, np.newaxis] > scores[~is_positive]
    return {
        "right": float(np.mean((scores > 0) == is_positive)),
        "called_positive": float(np.mean(scores > 0)),
        "best_border": float(at_best),
        "ranked": float(np.mean(above)),
    }


def measured(model: keras.Model, trees: Forest) -> dict[str, float]:
    """Returns what the model says of trees with two labels."""
    scores, labels, is_right = [], [], []
    for batch in rtf.data.batches(trees, BATCH):
        logits = model(batch, training=False).numpy()
        score = logits[:, 1] - logits[:, 0]
        has_label = batch.labels.numpy() >= 0
        is_right.append(((score > 0) == (batch.labels.numpy() == 1))[has_label])
        scores.append(score[batch.roots.numpy()])
        labels.append(batch.labels.numpy()[batch.roots.numpy()])
    roots = of_roots(np.concatenate(scores), np.concatenate(labels) == 1)
    return {"nodes": float(np.mean(np.concatenate(is_right))), **roots}


class Border(keras.callbacks.Callback):
    """Prints a row after each epoch.

    Attributes:
        rows: What was printed.
    """

    def __init__(self, settings: SentimentSettings, folder: RunFolder) -> None:
        """Remembers what to read when the words of the run are there."""
        super().__init__()
        self._settings, self._folder = settings, folder
        self._trees: Any = None
        self.rows: list[list[str]] = []

    def on_train_begin(self, logs: Any = None) -> None:
        """Reads and labels the development split."""
        words = self._folder.load_words()
        self._trees = rtf.data.encode(TASK.read(self._settings, "dev"), tokens=words)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Measures."""
        self.rows.append(_row(epoch + 1, measured(self.model, self._trees)))
        print(" | ".join(self.rows[-1]), flush=True)


def _row(epoch: int, found: Mapping[str, float]) -> list[str]:
    return [str(epoch), *(f"{100 * share:.1f}%" for share in found.values())]


def main(arguments: Sequence[str]) -> None:
    """Trains and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.reviews")
    parser.add_argument("data", help="folder with train.tsv and dev.tsv")
    parser.add_argument("labeler", help="folder of a run that labels all nodes")
    parser.add_argument("run", type=pathlib.Path, help="folder of the run")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--limit_trees", type=int, help="only show that it runs")
    chosen = parser.parse_args(arguments)
    settings = dataclasses.replace(
        TASK.given,
        data=chosen.data,
        labeler=chosen.labeler,
        epochs=chosen.epochs,
        limit_trees=chosen.limit_trees,
    )
    folder = RunFolder(chosen.run)
    border = Border(settings, folder)
    with Run(folder) as run:
        train(TASK, settings, run, callbacks=[border])
    print(table(HEADER, border.rows))


if __name__ == "__main__":
    main(sys.argv[1:])
