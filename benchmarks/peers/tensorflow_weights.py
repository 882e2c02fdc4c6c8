"""Weights of a work in TensorFlow: the loss above the states, and updates in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from benchmarks.peers import command
from benchmarks.works.work import Work

Gradients = dict[str, tf.Tensor]


class Loss(NamedTuple):
    """The loss of some rows and its gradients, by the names of weights and of h."""

    value: tf.Tensor
    h: tf.Tensor
    weights: Gradients


class Weights:
    """The variables, and their optimizer.

    Args:
        work: What they begin with.
        optimizer: "sgd" or "adagrad".
    """

    def __init__(self, work: Work, optimizer: str) -> None:
        self.variables = {
            name: tf.Variable(value, name=name) for name, value in work.weights.items()
        }
        self._sums: dict[str, tf.Variable] = {}
        if optimizer == "adagrad":
            self._sums = {
                name: tf.Variable(np.full_like(value, command.START))
                for name, value in work.weights.items()
            }

    def __getitem__(self, name: str) -> tf.Variable:
        return self.variables[name]

    def __contains__(self, name: str) -> bool:
        return name in self.variables

    def look_up(self, words: tf.Tensor) -> tf.Tensor:
        """Returns the embeddings of words, [num_words, embedding]."""
        return tf.gather(self["embedding"], words)

    def product(self, kind: str, x: tf.Tensor) -> tf.Tensor:
        """Returns the product of rows and its bias; the rows where there is none.

        Args:
            kind: "leaf_" or "", before the names of the kernel and of the bias.
            x: [rows, length].
        """
        if f"{kind}kernel" not in self.variables:
            return x
        z = x @ self[f"{kind}kernel"]
        return tf.nn.bias_add(z, self[f"{kind}bias"])

    def log_probabilities(self, h: tf.Tensor) -> tf.Tensor:
        """Returns those of the classes, [rows, classes]."""
        return tf.nn.log_softmax(
            tf.nn.bias_add(h @ self["logits_kernel"], self["logits_bias"])
        )

    def loss(self, h: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
        """Returns the loss of rows, given how often each class is meant."""
        return -tf.reduce_sum(targets * self.log_probabilities(h))

    def loss_and_gradients(self, h: tf.Tensor, targets: tf.Tensor) -> Loss:
        """Returns the loss of rows, and its gradients by h and by the weights."""
        logs = self.log_probabilities(h)
        often = tf.reduce_sum(targets, 1, keepdims=True)
        dlogits = tf.exp(logs) * often - targets
        weights = {
            "logits_kernel": tf.matmul(h, dlogits, transpose_a=True),
            "logits_bias": tf.reduce_sum(dlogits, 0),
        }
        dh = tf.matmul(dlogits, self["logits_kernel"], transpose_b=True)
        return Loss(-tf.reduce_sum(targets * logs), dh, weights)

    def update(self, gradients: Mapping[str, tf.Tensor], words: tf.Tensor) -> None:
        """Takes a step.

        Args:
            gradients: Those of all weights; "embedding": that of its rows `words`.
            words: int32[num_words]: distinct words, if the optimizer is AdaGrad.
        """
        for name, gradient in gradients.items():
            handle = self[name].handle
            if name != "embedding":
                self._update(name, gradient)
            elif self._sums:
                tf.raw_ops.ResourceSparseApplyAdagradV2(
                    var=handle,
                    accum=self._sums[name].handle,
                    lr=command.RATE,
                    epsilon=command.EPSILON,
                    grad=gradient,
                    indices=words,
                )
            else:
                tf.raw_ops.ResourceScatterSub(
                    resource=handle, indices=words, updates=command.RATE * gradient
                )

    def _update(self, name: str, gradient: tf.Tensor) -> None:
        handle = self[name].handle
        if not self._sums:
            tf.raw_ops.ResourceApplyGradientDescent(
                var=handle, alpha=command.RATE, delta=gradient
            )
            return
        tf.raw_ops.ResourceApplyAdagradV2(
            var=handle,
            accum=self._sums[name].handle,
            lr=command.RATE,
            epsilon=command.EPSILON,
            grad=gradient,
        )


def of_product(kind: str, x: tf.Tensor, dz: tf.Tensor) -> Gradients:
    """Returns the gradients of the weights that made z of x, by their names."""
    return {
        f"{kind}kernel": tf.matmul(x, dz, transpose_a=True),
        f"{kind}bias": tf.reduce_sum(dz, 0),
    }
