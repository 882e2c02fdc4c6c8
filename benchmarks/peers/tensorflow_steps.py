"""Steps of the programs by hand in TensorFlow."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from benchmarks.peers import command
from benchmarks.peers.levels import Leveler, Levels
from benchmarks.peers.one_argument import Parts, pack, traced
from benchmarks.peers.tensorflow_weights import Gradients, Weights
from benchmarks.works.work import CLASSES, Work

THREADS = 2
PARTS = 5


class Recursion(Protocol):
    """The computation of one batch, of tensors."""

    def loss(self, batch: Levels) -> tf.Tensor:
        """Returns the loss."""

    def gradients(self, batch: Levels) -> tuple[tf.Tensor, Gradients, tf.Tensor]:
        """Returns the loss, the gradients of the weights, and distinct words.

        That of the embedding is of the rows of these words.
        """


class Steps:
    """A system, made of a recursion.

    Args:
        recursion: What is traced.
        weights: What it reads, and what is updated.
        level: Makes batches.
        unrolled: Whether each number of levels has a graph of its own.
    """

    def __init__(
        self, recursion: Recursion, weights: Weights, level: Leveler, unrolled: bool
    ) -> None:
        self._recursion = recursion
        self._weights = weights
        self._level = level
        self._unrolled = unrolled
        self._train, self._infer, self._gradients = (
            functools.cache(functools.partial(_traced, step))
            for step in (self._train_step, recursion.loss, recursion.gradients)
        )

    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss."""
        return float(self._run(self._train, trees))

    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._run(self._infer, trees))

    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        loss, gradients, _ = self._run(self._gradients, trees)
        norms = {name: float(tf.norm(gradients[name])) for name in gradients}
        return float(loss), {name: norms[name] for name in self._weights.variables}

    def _run(self, graphs: Callable[[int | None], Any], trees: np.ndarray) -> Any:
        batch = self._level(trees)
        num_levels = len(batch.sizes) if self._unrolled else None
        return graphs(num_levels)(tf.constant(_pack(batch)))

    def _train_step(self, batch: Levels) -> tf.Tensor:
        loss, gradients, words = self._recursion.gradients(batch)
        self._weights.update(gradients, words)
        return loss


def _traced(step: Callable[[Levels], Any], num_levels: int | None) -> Any:
    """Returns the graph of a step for batches of so many levels."""
    return traced(lambda parts: step(_levels_of(parts, num_levels)), PARTS)


def _pack(batch: Levels) -> np.ndarray:
    return pack(
        (
            batch.words,
            batch.children.ravel(),
            batch.sizes,
            batch.rows,
            batch.targets.view(np.int32).ravel(),
        )
    )


def _levels_of(parts: Parts, num_levels: int | None) -> Levels:
    words, children, sizes, rows, targets = parts
    sizes.set_shape([num_levels])
    return Levels(
        words=words,
        children=tf.reshape(children, [-1, 2]),
        sizes=sizes,
        rows=rows,
        targets=tf.reshape(tf.bitcast(targets, tf.float32), [-1, CLASSES]),
    )


def serve(system: Callable[[Work, str], Steps]) -> None:
    """Runs the command line of a system.

    Args:
        system: Makes it of a work and the name of an optimizer.
    """
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    # What runs at the same time would only contend for the same processors.
    tf.config.threading.set_inter_op_parallelism_threads(1)
    command.main(system, lambda: {"tensorflow": tf.__version__})
