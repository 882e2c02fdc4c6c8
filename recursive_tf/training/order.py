"""The order of the training trees: another one each epoch, the same after a resume."""

import json
import pathlib
from collections.abc import Callable

import keras
import tensorflow as tf

from recursive_tf import data
from recursive_tf.data import Forest
from recursive_tf.training.files import LOG, RunError, replaced

FACTS = {"trees", "batch_size", "seed"}
# Makes another batch of a batch, at random: from two integers, the same ones all
# through an epoch.
Change = Callable[[Forest, tf.Tensor], Forest]


class Order(keras.callbacks.Callback):
    """Batches in an order that the seed and the number of the epoch decide.

    So an epoch is the same whether training came to it or went on from it.

    >>> trees = data.from_nested([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]])
    >>> order = Order(trees, batch_size=2, seed=0)
    >>> order.on_epoch_begin(3)  # As Keras calls it.
    >>> [len(batch) for batch in order.batches()]
    [2, 2, 1]
    >>> whole, rest = ([batch.tokens.numpy().tolist() for batch in order.batches(skip)]
    ...                for skip in (0, 2))
    >>> whole[2:] == rest
    True
    """

    def __init__(
        self,
        trees: Forest,
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
    def num_trees(self) -> int:
        """How many an epoch has."""
        return len(self._trees)

    @property
    def num_batches(self) -> int:
        """How many an epoch has."""
        return -(-len(self._trees) // self._batch_size)

    @property
    def _facts(self) -> dict[str, int]:
        return {
            "trees": self.num_trees,
            "batch_size": self._batch_size,
            "seed": self._seed,
        }

    def check(self, path: pathlib.Path) -> None:
        """Checks that this is the order that a run began with.

        A position is a number of steps: it means other trees in another order.

        Args:
            path: What `save` wrote when the run began.

        Raises:
            RunError: If it is another one.
        """
        for name, value in _read(path).items():
            if value != self._facts[name]:
                raise RunError(
                    f"{path}: the run has {name} {value}, and not {self._facts[name]}. "
                    "Go on with what it began with, or begin another run in another "
                    "folder."
                )

    def save(self, path: pathlib.Path) -> None:
        """Writes which order this is."""
        with replaced(path) as new:
            new.write_text(json.dumps(self._facts) + "\n")

    def batches(self, skip: int = 0) -> tf.data.Dataset:
        """Returns the batches of an epoch, without so many at its beginning."""
        batches = data.batches(
            self._trees, self._batch_size, shuffle=True, seed=self._pass, skip=skip
        )
        change = self._change
        if change is None:
            return batches
        return batches.map(lambda batch: change(batch, self._pass.read_value()))

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        """Says which pass the next one over the batches is."""
        self._pass.assign([self._seed, epoch])


def _read(path: pathlib.Path) -> dict[str, int]:
    """Returns what a file says of an order: nothing if it is damaged or not there."""
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if isinstance(found, dict) and found.keys() == FACTS:
        return found
    LOG.warning("%s is damaged: it is written again.", path)
    return {}
