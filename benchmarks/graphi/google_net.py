"""GoogLeNet (Szegedy et al. 2015, table 1): modules of four branches."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from benchmarks.graphi.network import (
    COLORS,
    Kind,
    Network,
    Weights,
    images_of,
    loss_of,
)

CLASSES = 1000


class Inception(NamedTuple):
    """How many filters a module's branches have; "reduce" is before a larger one."""

    ones: int
    reduce_3: int
    threes: int
    reduce_5: int
    fives: int
    pooled: int


MODULES = {
    "3a": Inception(64, 96, 128, 16, 32, 32),
    "3b": Inception(128, 128, 192, 32, 96, 64),
    "4a": Inception(192, 96, 208, 16, 48, 64),
    "4b": Inception(160, 112, 224, 24, 64, 64),
    "4c": Inception(128, 128, 256, 24, 64, 64),
    "4d": Inception(112, 144, 288, 32, 64, 64),
    "4e": Inception(256, 160, 320, 32, 128, 128),
    "5a": Inception(256, 160, 320, 32, 128, 128),
    "5b": Inception(384, 192, 384, 48, 128, 128),
}
POOLED_AFTER = ("3b", "4e")


class Convolution:
    """A convolution with a bias and a rectified linear unit."""

    def __init__(
        self, weights: Weights, size: int, channels: int, filters: int, stride: int = 1
    ) -> None:
        self._kernel = weights.normal(size, size, channels, filters)
        self._bias = weights.zeros(filters)
        self._stride = stride

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """Returns [batch, side, side, filters]."""
        x = tf.nn.conv2d(x, self._kernel, self._stride, "SAME")
        return tf.nn.relu(tf.nn.bias_add(x, self._bias))


class Module:
    """An inception module."""

    def __init__(self, weights: Weights, channels: int, filters: Inception) -> None:
        def branch(*layers: tuple[int, int]) -> list[Convolution]:
            taken, made = channels, []
            for size, given in layers:
                made.append(Convolution(weights, size, taken, given))
                taken = given
            return made

        self._branches = [
            branch((1, filters.ones)),
            branch((1, filters.reduce_3), (3, filters.threes)),
            branch((1, filters.reduce_5), (5, filters.fives)),
        ]
        self._of_pooled = branch((1, filters.pooled))

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the results of all branches, side by side."""
        starts = [x, x, x, _pooled(x, stride=1)]
        branches = [*self._branches, self._of_pooled]
        ends = []
        for y, branch in zip(starts, branches, strict=True):
            for convolution in branch:
                y = convolution(y)
            ends.append(y)
        return tf.concat(ends, -1)


def make(batch: int, image: int, width: int) -> Network:
    """Returns a network for images: [batch, image, image, 3]."""
    weights = Weights()
    stem = [
        Convolution(weights, 7, COLORS, 64 * width, stride=2),
        Convolution(weights, 1, 64 * width, 64 * width),
        Convolution(weights, 3, 64 * width, 192 * width),
    ]
    channels, modules = 192 * width, {}
    for name, filters in MODULES.items():
        wide = Inception(*(width * count for count in filters))
        modules[name] = Module(weights, channels, wide)
        channels = wide.ones + wide.threes + wide.fives + wide.pooled
    last = weights.normal(channels, CLASSES)

    def loss(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        x = _pooled(stem[0](images))
        x = _pooled(stem[2](stem[1](x)))
        for name, module in modules.items():
            x = module(x)
            x = _pooled(x) if name in POOLED_AFTER else x
        scores = tf.reduce_mean(x, [1, 2]) @ last
        return loss_of(scores, labels)

    return Network(weights.variables, images_of(batch, image, CLASSES), loss)


def _pooled(x: tf.Tensor, stride: int = 2) -> tf.Tensor:
    return tf.nn.max_pool2d(x, 3, stride, "SAME")


KIND = Kind(
    "GoogLeNet", 32, {"small": (128, 1), "medium": (192, 2), "large": (256, 4)}, make
)
