"""PathNet (Fernando et al. 2017): in each layer six modules, whose results add up.

A module is a convolution of 3 x 3, a rectified linear unit and a pooling of 2 x 2
(Tang et al. 2018, section 7.1).
"""

from __future__ import annotations

import tensorflow as tf

from benchmarks.graphi.network import (
    COLORS,
    Kind,
    Network,
    Weights,
    images_of,
    loss_of,
)

LAYERS, MODULES, CLASSES = 3, 6, 10


def make(batch: int, image: int, neurons: int) -> Network:
    """Returns a network for images: [batch, image, image, 3]."""
    weights = Weights()
    layers = [
        [weights.normal(3, 3, channels, neurons) for _ in range(MODULES)]
        for channels in (COLORS, *[neurons] * (LAYERS - 1))
    ]
    side = image >> LAYERS
    last = weights.normal(side * side * neurons, CLASSES)

    def loss(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        x = images
        for modules in layers:
            x = tf.add_n([_module(x, kernel) for kernel in modules]) / MODULES
        scores = tf.reshape(x, [batch, -1]) @ last
        return loss_of(scores, labels)

    return Network(weights.variables, images_of(batch, image, CLASSES), loss)


def _module(x: tf.Tensor, kernel: tf.Variable) -> tf.Tensor:
    x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))
    return tf.nn.max_pool2d(x, 2, 2, "SAME")


KIND = Kind(
    "PathNet", 64, {"small": (32, 16), "medium": (48, 32), "large": (64, 48)}, make
)
