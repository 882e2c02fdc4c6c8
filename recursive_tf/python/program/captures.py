"""What a program takes of the outside, once a root call."""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Protocol

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat

# Returns what an outer tensor is where a root call is made.
Place = Callable[[tf.Tensor], tf.Tensor]

# How many numbers a generator of TensorFlow skips for a root call.
_SKIPPED = 256


class Capture(Protocol):
    """A value that all invocations of a root call see.

    Attributes:
        external: The outer tensor, or the handle of the outer resource, that it is
            made of; None if it is made of nothing.
    """

    @property
    def external(self) -> tf.Tensor | None:
        """See above."""

    def key(self) -> Hashable:
        """Returns what it has in common with the same capture elsewhere."""

    def at_root(self, place: Place) -> tf.Tensor:
        """Returns the value, computed in the default graph."""

    def eager_value(self) -> tf.Tensor | None:
        """Returns the value for an eager call; None if its function computes it."""


@dataclasses.dataclass(frozen=True, eq=False)
class OuterTensor:
    """A tensor of the outside, or the handle of a resource."""

    external: tf.Tensor

    def key(self) -> Hashable:
        """Returns its identity."""
        return "tensor", id(self.external)

    def at_root(self, place: Place) -> tf.Tensor:
        """Returns it as it is."""
        return place(self.external)

    def eager_value(self) -> tf.Tensor | None:
        """Returns it, unless it is a handle."""
        return None if self.external.dtype == tf.resource else self.external


class _OfResource:
    """What a resource holds."""

    def eager_value(self) -> None:
        """Returns None: the function knows the resource."""


@dataclasses.dataclass(frozen=True, eq=False)
class VariableValue(_OfResource):
    """What a variable holds, of a program that only reads."""

    external: tf.Tensor
    spec: tf.TensorSpec

    def key(self) -> Hashable:
        """Returns the variable's identity."""
        return "value", id(self.external)

    def at_root(self, place: Place) -> tf.Tensor:
        """Reads the variable."""
        handle = place(self.external)
        value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=self.spec.dtype)
        value.set_shape(self.spec.shape)
        return value


@dataclasses.dataclass(frozen=True, eq=False)
class DrawnSeed:
    """A seed that is drawn as TensorFlow's stateful random ops draw.

    Attributes:
        op_seed: The `seed=` of the ops that it is for, or None.
    """

    op_seed: int | None
    external: None = None

    def key(self) -> Hashable:
        """Returns the op seed."""
        return "drawn", self.op_seed

    def at_root(self, place: Place) -> tf.Tensor:
        """Draws it, as `tf.random.set_seed` says."""
        del place
        low, high = tf.int64.min, tf.int64.max
        return _as_seed(tf.random.uniform([], low, high, tf.int64, seed=self.op_seed))

    def eager_value(self) -> tf.Tensor:
        """Draws it eagerly: a function would keep the seed that it was traced with."""
        return self.at_root(lambda external: external)


@dataclasses.dataclass(frozen=True, eq=False)
class KerasSeed(_OfResource):
    """The seed that a Keras `SeedGenerator` gives next.

    Attributes:
        external: The handle of its state, two integers.
        dtype: Of the state.
        next_state: Returns the state after that, computed in the default graph.
    """

    external: tf.Tensor
    dtype: tf.DType
    next_state: Callable[[Place], tf.Tensor]

    def key(self) -> Hashable:
        """Returns the generator's identity."""
        return "keras", id(self.external)

    def at_root(self, place: Place) -> tf.Tensor:
        """Reads the state, and puts the next in its place."""
        handle = place(self.external)
        state = tf.raw_ops.ReadVariableOp(resource=handle, dtype=self.dtype)
        with tf.control_dependencies([state]):
            following = self.next_state(place)
            tf.raw_ops.AssignVariableOp(resource=handle, value=following)
        first, second = tf.unstack(tf.cast(state, tf.uint64), num=2)
        key = library.recursive_mix_key(key=first, number=second)
        # The copies of all replicas are alike, and what these draw should not be.
        if replica := tf_compat.replica_id():
            number = tf.constant(replica, tf.uint64)
            key = library.recursive_mix_key(key=key, number=number)
        return key


@dataclasses.dataclass(frozen=True, eq=False)
class GeneratorSeed(_OfResource):
    """A seed that a `tf.random.Generator` draws; its algorithm is Philox.

    Attributes:
        external: The handle of its state.
        algorithm: The number that TensorFlow has for Philox.
    """

    external: tf.Tensor
    algorithm: int

    def key(self) -> Hashable:
        """Returns the generator's identity."""
        return "generator", id(self.external)

    def at_root(self, place: Place) -> tf.Tensor:
        """Reads the state, and lets the generator skip some numbers."""
        state = tf.raw_ops.RngReadAndSkip(
            resource=place(self.external),
            alg=self.algorithm,
            delta=tf.constant(_SKIPPED, tf.uint64),
        )
        *counters, key = (_as_seed(number) for number in tf.unstack(state, num=3))
        for counter in counters:
            key = library.recursive_mix_key(key=key, number=counter)
        return key


def _as_seed(number: tf.Tensor) -> tf.Tensor:
    """Returns a seed, uint64, of an int64."""
    return tf.bitcast(number, tf.uint64)
