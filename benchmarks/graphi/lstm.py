"""A language model of two layers of LSTM (Zaremba et al. 2014), as Graphi has it."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.graphi.network import Kind, Network, Weights

LAYERS = 2
State = tuple[tf.Tensor, tf.Tensor]


class Cell:
    """One layer: i, f, o and u from its input and its h."""

    def __init__(self, weights: Weights, neurons: int) -> None:
        self._kernel = weights.normal(2 * neurons, 4 * neurons)
        self._bias = weights.zeros(4 * neurons)

    def __call__(self, x: tf.Tensor, state: State, step: int) -> State:
        """Returns h and c of the next step."""
        del step
        h, c = state
        sums = tf.concat([x, h], 1) @ self._kernel + self._bias
        i, f, o, u = tf.split(sums, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(u)
        return tf.sigmoid(o) * tf.tanh(c), c


def make(
    batch: int,
    sequence: int,
    neurons: int,
    cell: type = Cell,
    layers: int = LAYERS,
) -> Network:
    """Returns layers of cells along a sequence: [batch, sequence, neurons]."""
    weights = Weights()
    cells = [cell(weights, neurons) for _ in range(layers)]

    def loss(inputs: tf.Tensor) -> tf.Tensor:
        zeros = tf.zeros([batch, neurons])
        states = [(zeros, zeros)] * layers
        total = tf.constant(0.0)
        for step, x in enumerate(tf.unstack(inputs, axis=1)):
            for layer, each in enumerate(cells):
                states[layer] = each(x, states[layer], step)
                x = states[layer][0]
            total += tf.reduce_sum(x**2)
        return total

    inputs = tf.random.Generator.from_seed(1).normal([batch, sequence, neurons])
    return Network(weights.variables, [inputs], loss)


KIND = Kind(
    "LSTM", 64, {"small": (20, 128), "medium": (30, 512), "large": (40, 1024)}, make
)
