"""The order of the training trees: another one each epoch, the same after a resume."""

import keras
import tensorflow as tf

import recursive_tf as rtf


class Order(keras.callbacks.Callback):
    """Batches in an order that the seed and the number of the epoch decide.

    So an epoch is the same whether training came to it or went on from it.
    """

    def __init__(self, trees: rtf.data.Forest, batch_size: int, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._pass = tf.Variable([seed, 0], trainable=False, dtype=tf.int64)
        self.batches = rtf.data.batches(
            trees, batch_size, shuffle=True, seed=self._pass
        )

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        """Says which pass the next one over the batches is."""
        self._pass.assign([self._seed, epoch])
