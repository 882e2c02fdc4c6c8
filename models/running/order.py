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
        self._trees = trees
        self._batch_size = batch_size
        self._seed = seed
        self._pass = tf.Variable([seed, 0], trainable=False, dtype=tf.int64)

    @property
    def num_batches(self) -> int:
        """How many an epoch has."""
        return -(-len(self._trees) // self._batch_size)

    def batches(self, skip: int = 0) -> tf.data.Dataset:
        """Returns the batches of an epoch, without so many at its beginning."""
        return rtf.data.batches(
            self._trees, self._batch_size, shuffle=True, seed=self._pass, skip=skip
        )

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        """Says which pass the next one over the batches is."""
        self._pass.assign([self._seed, epoch])
