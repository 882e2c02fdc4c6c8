"""What the networks have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

COLORS = 3


@dataclasses.dataclass(frozen=True)
class Network:
    """A network of one size, with a batch that it is trained on.

    Attributes:
        variables: What is trained.
        inputs: A batch, generated.
        loss: Takes the tensors of a batch, and returns the loss, a scalar.
    """

    variables: Sequence[tf.Variable]
    inputs: Sequence[tf.Tensor]
    loss: Callable[..., tf.Tensor]

    def step(self, *inputs: tf.Tensor) -> list[tf.Tensor]:
        """Returns the loss of a batch and its gradients: a step of training."""
        with tf.GradientTape() as tape:
            loss = self.loss(*inputs)
        return [loss, *tape.gradient(loss, self.variables)]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A network in the sizes of the paper.

    Attributes:
        name: As in the paper.
        batch: How many examples a step has.
        sizes: By name, what `make` takes besides: Table 1.
        make: Returns a network for a batch and a size.
    """

    name: str
    batch: int
    sizes: Mapping[str, tuple[int, int]]
    make: Callable[..., Network]


def images_of(batch: int, side: int, classes: int) -> list[tf.Tensor]:
    """Returns generated images, [batch, side, side, 3], and labels, [batch]."""
    random = tf.random.Generator.from_seed(1)
    images = random.normal([batch, side, side, COLORS])
    return [images, random.uniform([batch], 0, classes, tf.int32)]


def loss_of(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns the cross-entropy of the scores of all images, added up."""
    return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))


class Weights:
    """Makes variables, and has them.

    Attributes:
        variables: All that were made.
    """

    def __init__(self, seed: int = 0) -> None:
        self.variables: list[tf.Variable] = []
        self._random = tf.random.Generator.from_seed(seed)

    def normal(self, *shape: int) -> tf.Variable:
        """Returns weights whose products keep the size of what they are applied to."""
        fan_in = int(tf.reduce_prod(shape[:-1]))
        return self._added(self._random.normal(shape) * (2 / fan_in) ** 0.5)

    def zeros(self, *shape: int) -> tf.Variable:
        """Returns biases."""
        return self._added(tf.zeros(shape))

    def uniform(self, low: float, high: float, *shape: int) -> tf.Variable:
        """Returns weights between two numbers."""
        return self._added(self._random.uniform(shape, low, high))

    def _added(self, value: tf.Tensor) -> tf.Variable:
        self.variables.append(tf.Variable(value))
        return self.variables[-1]
