"""How far training has come, and what an epoch has given so far."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from recursive_tf.distribute import Distribution


class Position(NamedTuple):
    """A place in training.

    Attributes:
        epochs: That are done.
        steps: That are done of the epoch after these.
    """

    epochs: int = 0
    steps: int = 0

    def __str__(self) -> str:
        """Says it to a user."""
        if not self.steps:
            return f"epoch {self.epochs}"
        return f"step {self.steps} of epoch {self.epochs + 1}"


class SoFar:
    """What the steps of an epoch have given, up to one of them.

    Each replica counts what it did by itself. Who counted what is kept, so that the sum
    is the same to the last bit.

    Attributes:
        counts: float64[replicas, variables], what the metrics have counted.
        seconds: How long the steps took.
    """

    def __init__(self, model: keras.Model, distribution: Distribution) -> None:
        """Takes note of a model.

        Args:
            model: It has all its variables, those of metrics too.
            distribution: The processes and replicas that take its steps.
        """
        self._variables = values(model.metrics_variables)
        self._strategy = distribution.strategy
        self._is_shared = distribution.is_shared
        nothing = tf.zeros([0, 0], tf.float64)
        # Those of a run that goes on may be of another number of replicas.
        self.counts = tf.Variable(nothing, trainable=False, shape=[None, None])
        self.seconds = tf.Variable(0.0, trainable=False, dtype=tf.float64)
        self._take = tf.function(self._of_all)
        self._put = tf.function(self._to_all)

    def take(self, seconds: float) -> None:
        """Looks at the metrics. A step of all processes."""
        found = self._take() if self._is_shared else self._counted()
        self.counts.assign(found)
        self.seconds.assign(seconds)

    def put_back(self) -> None:
        """Gives the metrics what they had when `take` was called."""
        counts = self.counts.numpy()
        replicas = self._strategy.num_replicas_in_sync if self._is_shared else 1
        if len(counts) != replicas:
            counts[0] = counts.sum(axis=0)
            counts[1:] = 0.0
            counts.resize([replicas, counts.shape[1]])
        if self._is_shared:
            self._put(tf.constant(counts))
        else:
            self._assign(tf.constant(counts[0]))

    def _of_all(self) -> tf.Tensor:
        return self._strategy.gather(self._strategy.run(self._counted), axis=0)

    def _counted(self) -> tf.Tensor:
        return tf.stack([[tf.cast(v, tf.float64) for v in self._variables]])

    def _to_all(self, counts: tf.Tensor) -> None:
        def assign() -> None:
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            self._assign(counts[replica])

        self._strategy.run(assign)

    def _assign(self, counts: tf.Tensor) -> None:
        for variable, count in zip(
            self._variables, tf.unstack(counts, len(self._variables)), strict=True
        ):
            variable.assign(tf.cast(count, variable.dtype))


def values(variables: Iterable[Any]) -> list[tf.Variable]:
    """Returns TensorFlow's variables of Keras's."""
    return [variable.value for variable in variables]
