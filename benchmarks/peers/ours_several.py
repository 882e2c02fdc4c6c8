"""recursive_tf, several steps a call: a loop in a `tf.function`, around the same step.

    python -m benchmarks.peers.ours_several --model treelstm.npz --batch 1

A call of TensorFlow from Python, and the start of a graph's threads, cost as much as a
step of a few small trees. One call takes the batches of its steps joined into one
array, and the places where each begins.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from benchmarks.peers import command, ours
from benchmarks.works.work import Work

STEPS = 8

Step = Callable[[tf.Tensor], tf.Tensor]


class SeveralSteps:
    """The system of benchmarks/peers/ours.py, whose calls run up to STEPS steps."""

    def __init__(self, one: ours.RecursiveTF) -> None:
        self._one = one
        # What one call runs once.
        self.train, self.infer = one.train, one.infer
        self.gradients = one.gradients
        self._train_steps = _several(one.train_step)
        self._infer_steps = _several(one.infer_step)

    def train_all(self, batches: list[np.ndarray]) -> float:
        """Runs a step of training for each batch; returns the last loss."""
        return self._run_all(self._train_steps, batches)

    def infer_all(self, batches: list[np.ndarray]) -> float:
        """Returns the loss of the last batch, and computes that of all."""
        return self._run_all(self._infer_steps, batches)

    def _run_all(self, steps: Callable[..., tf.Tensor], batches: list) -> float:
        for first in range(0, len(batches), STEPS):
            made = [self._one.batch(trees) for trees in batches[first : first + STEPS]]
            loss = float(steps(*_joined(made)))
        return loss


def _joined(arrays: list[tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns arrays side by side, and where each begins and the last one ends."""
    joined = np.concatenate(arrays)
    ends = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
    return tf.constant(joined), tf.constant(ends)


def _several(step: Step) -> Callable[..., tf.Tensor]:
    """Returns a function that runs a step for each part of joined batches."""

    def steps(batches: tf.Tensor, ends: tf.Tensor) -> tf.Tensor:
        def run(i: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + 1, step(batches[ends[i] : ends[i + 1]])

        def goes_on(i: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
            return i + 1 < tf.size(ends)

        # Steps come one after the other: each reads what the one before it wrote.
        loop = tf.while_loop(goes_on, run, (0, 0.0), parallel_iterations=1)
        return loop[1]

    numbers = tf.TensorSpec([None], tf.int32)
    traced = tf.function(steps, autograph=False)
    return traced.get_concrete_function(numbers, numbers)


def make(work: Work, optimizer: str) -> SeveralSteps:
    """Returns the system."""
    return SeveralSteps(ours.make(work, optimizer))


if __name__ == "__main__":
    command.main(make, ours.versions)
