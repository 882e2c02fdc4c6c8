"""PhasedLSTM (Neil et al. 2016): an LSTM whose cells open from time to time."""

from __future__ import annotations

import functools

import tensorflow as tf

from benchmarks.graphi import lstm
from benchmarks.graphi.network import Kind, Weights

# Of what is let through while a cell is closed, and how long it is open.
LEAK, OPEN = 0.001, 0.05


class Cell(lstm.Cell):
    """An LSTM's cell with a time gate: equations 8 to 12."""

    def __init__(self, weights: Weights, neurons: int) -> None:
        super().__init__(weights, neurons)
        self._log_period = weights.uniform(0.0, 6.0, neurons)
        self._shift = weights.uniform(0.0, 10.0, neurons)

    def __call__(self, x: tf.Tensor, state: lstm.State, step: int) -> lstm.State:
        """Returns h and c of the next step."""
        h, c = state
        gate = self._gate(float(step))
        new_h, new_c = super().__call__(x, state, step)
        return gate * new_h + (1 - gate) * h, gate * new_c + (1 - gate) * c

    def _gate(self, time: float) -> tf.Tensor:
        """Returns how far each cell is open: [neurons]."""
        period = tf.exp(self._log_period)
        phase = tf.math.floormod(time - self._shift, period) / period
        rising = 2 * phase / OPEN
        is_rising, is_open = phase < OPEN / 2, phase < OPEN
        return tf.where(is_rising, rising, tf.where(is_open, 2 - rising, LEAK * phase))


KIND = Kind("PhasedLSTM", 64, lstm.KIND.sizes, functools.partial(lstm.make, cell=Cell))
