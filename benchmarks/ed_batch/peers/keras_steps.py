"""Steps of a Keras layer whose outputs are one tensor: ours, and a peer's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.works.work import Work


class Steps:
    """A system, made of a layer that is built.

    Args:
        work: What to compute.
        model: Its weights, in their order, are those of the work.
        inputs_of: Makes of a batch the arguments of a call of the model.
    """

    def __init__(
        self, work: Work, model: Any, inputs_of: Callable[[Any], Sequence[Any]]
    ) -> None:
        self._inputs = work.trees
        self._names = list(work.weights)
        self._inputs_of = inputs_of
        self._model = model
        example = inputs_of(self._inputs.batch(np.arange(1)))
        model(*example)
        model.set_weights(list(work.weights.values()))
        steps = {
            "input_signature": [_of_any_size(each) for each in example],
            "autograph": False,
        }
        self._infer = tf.function(self._loss, **steps)
        self._train = tf.function(self._gradients, **steps)

    def train(self, sentences: np.ndarray) -> float:
        """Computes gradients; returns the loss."""
        return float(self._train(*self._batch(sentences))[0])

    def infer(self, sentences: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._infer(*self._batch(sentences)))

    def gradients(self, sentences: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        loss, gradients = self._train(*self._batch(sentences))
        norms = [
            0.0 if each is None else float(tf.norm(tf.convert_to_tensor(each)))
            for each in gradients
        ]
        return float(loss), dict(zip(self._names, norms, strict=True))

    def _batch(self, sentences: np.ndarray) -> Any:
        return self._inputs_of(self._inputs.batch(sentences))

    def _loss(self, *inputs: Any) -> tf.Tensor:
        return tf.reduce_sum(self._model(*inputs) ** 2)

    def _gradients(self, *inputs: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = self._loss(*inputs)
        return loss, tape.gradient(loss, self._model.trainable_variables)


def _of_any_size(example: Any) -> Any:
    """Returns the signature of a batch, whatever the size of its dimensions."""
    if isinstance(example, tf.RaggedTensor):
        return tf.RaggedTensorSpec(
            [None] * example.shape.rank,
            example.dtype,
            example.ragged_rank,
            example.row_splits.dtype,
        )
    if isinstance(example, tf.experimental.ExtensionType):
        return tf.type_spec_from_value(example)
    return tf.TensorSpec([None] * example.shape.rank, example.dtype)
