"""What the workloads have in common."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

# The arguments of one call of a model.
Batch = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Workload:
    """A model, and what it is run on.

    Attributes:
        name: As in the paper.
        what: A model for a size, and keyword arguments of a SubGraph: a Keras layer
            whose outputs are one tensor.
        batches: From a folder of data, or None for generated data, the size of a batch
            and a count.
    """

    name: str
    model: Callable[..., keras.layers.Layer]
    batches: Callable[[pathlib.Path | None, int, int], Sequence[Batch]]


def inference(model: Any) -> Any:
    """Returns what computes the outputs of a batch."""
    return tf.function(lambda *batch: model(*batch), autograph=False)


def training(model: Any) -> Any:
    """Returns what computes the gradients of a loss of a batch; it updates nothing."""

    def step(*batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(*batch) ** 2)
        return tape.gradient(loss, model.trainable_variables)

    return tf.function(step, autograph=False)
