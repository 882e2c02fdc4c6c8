"""The order of the training trees: another one each epoch, the same after a resume."""

from collections.abc import Callable

import keras
import tensorflow as tf

import recursive_tf as rtf

# Makes another batch of a batch, at random: from two integers, the same ones all
# through an epoch.
Change = Callable[[rtf.data.Forest, tf.Tensor], rtf.data.Forest]


class Order(keras.callbacks.Callback):
    """Batches in an order that the seed and the number of the epoch decide.

    So an epoch is the same whether training came to it or went on from it.
    """

    def __init__(
        self,
        trees: rtf.data.Forest,
        batch_size: int,
        seed: int,
        change: Change | None = None,
    ) -> None:
        """Makes the batches.

        Args:
            trees: All of an epoch.
            batch_size: How many make a batch.
            seed: Of the run.
            change: What is done to each batch; its draws depend on what order does.
        """
        super().__init__()
        self._trees = trees
        self._batch_size = batch_size
        self._seed = seed
        self._change = change
        self._pass = tf.Variable([seed, 0], trainable=False, dtype=tf.int64)

    @property
    def num_batches(self) -> int:
        """How many an epoch has."""
        return -(-len(self._trees) // self._batch_size)

    def batches(self, skip: int = 0) -> tf.data.Dataset:
        """Returns the batches of an epoch, without so many at its beginning."""
        batches = rtf.data.batches(
            self._trees, self._batch_size, shuffle=True, seed=self._pass, skip=skip
        )
        change = self._change
        if change is None:
            return batches
        return batches.map(lambda batch: change(batch, self._pass.read_value()))

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        """Says which pass the next one over the batches is."""
        self._pass.assign([self._seed, epoch])
