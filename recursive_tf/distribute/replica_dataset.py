"""Datasets of tuples as `tf.distribute` has them: a replica gets its part of each.

TensorFlow has an iterator for each replica of a process. What tunes these sleeps,
whatever a dataset's options say, and who is done with a pass waits until it wakes.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat


class _OfReplicas:
    """A dataset or an iterator, and what replicas make of an element.

    Args:
        local: Of tuples with a part for each replica of this process; or of what there
            is for the only one of a strategy.
        is_shared: Whether it is the former.
        cardinality: How many elements the dataset has; negative if that is not known.
    """

    def __init__(self, local: Any, is_shared: bool, cardinality: int) -> None:
        self._local = local
        self._is_shared = is_shared
        self._cardinality = cardinality

    @property
    def cardinality(self) -> int:
        """How many steps the dataset has; negative if that is not known."""
        return self._cardinality

    @property
    def element_spec(self) -> Any:
        """The specification of what `tf.distribute.Strategy.run` takes."""
        spec = self._local.element_spec
        return tf_compat.per_replica_spec(spec) if self._is_shared else spec

    def _of_replicas(self, element: Any) -> Any:
        """Returns what `tf.distribute.Strategy.run` takes."""
        return tf_compat.per_replica(element) if self._is_shared else element


class ReplicaDataset(_OfReplicas, tf_compat.DistributedDataset):
    """What replicas of this process get in each step.

    It is read on the host, where what follows it runs. Keras knows it by its base.
    """

    def __iter__(self) -> ReplicaIterator:
        return ReplicaIterator(iter(self._local), self._is_shared, self._cardinality)

    @property
    def _type_spec(self) -> tf.TypeSpec:
        local = tf.data.DatasetSpec.from_value(self._local)
        return _DatasetSpec(local, self._is_shared, self._cardinality)


class ReplicaIterator(
    _OfReplicas, tf.distribute.DistributedIterator, tf.__internal__.CompositeTensor
):
    """Iterates over a `ReplicaDataset`, also as an argument of a `tf.function`."""

    def __iter__(self) -> ReplicaIterator:
        return self

    def __next__(self) -> Any:
        return self._of_replicas(next(self._local))

    def get_next(self) -> Any:
        """Returns what replicas get in the next step."""
        return self._of_replicas(self._local.get_next())

    def get_next_as_optional(self) -> tf.experimental.Optional:
        """Returns the same, or nothing at the end."""
        found = self._local.get_next_as_optional()
        optional = tf.experimental.Optional
        return tf.cond(
            found.has_value(),
            lambda: optional.from_value(self._of_replicas(found.get_value())),
            lambda: optional.empty(self.element_spec),
        )

    @property
    def _type_spec(self) -> tf.TypeSpec:
        local = self._local._type_spec
        return _IteratorSpec(local, self._is_shared, self._cardinality)


class _Spec(tf.TypeSpec):
    """Of what has something of `tf.data` inside: `local` is its specification."""

    def __init__(self, local: tf.TypeSpec, is_shared: bool, cardinality: int) -> None:
        self._local = local
        self._is_shared = is_shared
        self._cardinality = cardinality

    def _serialize(self) -> tuple[Any, ...]:
        return (self._local, self._is_shared, self._cardinality)

    @property
    def _component_specs(self) -> list[tf.TypeSpec]:
        return [self._local]

    def _to_components(self, value: _OfReplicas) -> list[Any]:
        return [value._local]

    def _from_components(self, components: Any) -> Any:
        return self.value_type(*components, self._is_shared, self._cardinality)


class _DatasetSpec(_Spec):
    value_type = ReplicaDataset


class _IteratorSpec(_Spec):
    value_type = ReplicaIterator
