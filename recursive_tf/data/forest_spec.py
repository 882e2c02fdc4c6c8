"""What is known of a forest before there is one."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from recursive_tf.data import rows

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest


class ForestSpec:
    """The arrays of a forest and their dtypes; TensorFlow makes `Forest.Spec` of it.

    Neither the number of nodes nor that of trees is part of it, so that a
    `tf.function` is traced once for all batches of a dataset.
    """

    @classmethod
    def from_value(cls, value: Forest) -> Any:
        """Returns the spec of a forest."""
        arrays = rows.arrays_of(value).items()
        return make_spec(
            cls,
            value.shape.rank,
            {name: _spec_of_rows(array) for name, array in arrays},
        )

    @property
    def shape(self) -> tf.TensorShape:
        """`[]` for a tree, `[None]` for a batch."""
        return self.roots.shape  # type: ignore[attr-defined]

    @property
    def arrays(self) -> rows.Arrays:
        """The spec of each array with a row a node, by name."""
        fields = self.__dict__
        names = ("tokens", "labels", "left", "right", "children")
        given = {name: fields.get(name, fields.get("_" + name)) for name in names}
        given |= {rows.FEATURE + k: spec for k, spec in fields["features"].items()}
        return {name: spec for name, spec in given.items() if spec is not None}

    # A call of a `tf.function` takes a forest apart and compares its spec several
    # times. TensorFlow does so for all structures alike, in 0.1 to 0.3 ms a call; for
    # tensors as wide as the spec says there is nothing to be found out.

    def to_tensors(self, value: Any) -> list[Any]:
        """Returns the tensors of a forest: see `tf.types.experimental.TraceType`."""
        tensors = _tensors_of(self, value)
        if tensors is None:
            tensors = tf.TypeSpec.to_tensors(self, value)
        return tensors

    def cast(self, value: Any, context: Any) -> Any:
        """Returns a forest whose tensors fit: see `tf.types.experimental.TraceType`."""
        if _tensors_of(self, value) is not None:
            return value
        return tf.TypeSpec.cast(self, value, context)

    def is_subtype_of(self, other: Any) -> bool:
        """Returns whether all forests of this spec are also of the other."""
        same: bool = self is other or tf.TypeSpec.is_subtype_of(self, other)
        return same

    def with_shape(self, shape: list[None]) -> Any:
        """Returns the spec of a tree or a batch with the same arrays."""
        return make_spec(type(self), len(shape), self.arrays)

    def _create_empty_value(self) -> Forest:
        """Returns no trees: what `tf.distribute` hands to a replica without a share."""
        none = tf.zeros([0], tf.int32)
        arrays = {name: _no_rows(spec) for name, spec in self.arrays.items()}
        arguments = rows.as_arguments(arrays)
        forest: Forest = self.value_type(  # type: ignore[attr-defined]
            roots=none, sizes=none, **arguments
        )
        return forest


def make_spec(spec_type: Any, rank: int, specs: rows.Arrays) -> Any:
    """Returns a spec of a tree, if `rank` is 0, or of a batch, from those of arrays.

    The same for the same arrays, so that specs are mostly compared by identity.
    """
    return _make_spec(spec_type, rank, tuple(specs.items()))


@functools.lru_cache(maxsize=1024)
def _make_spec(spec_type: Any, rank: int, specs: tuple[tuple[str, Any], ...]) -> Any:
    arguments = rows.as_arguments(dict(specs))
    one_per_tree = tf.TensorSpec([None] * rank, tf.int32)
    return spec_type(
        roots=one_per_tree,
        sizes=one_per_tree,
        tokens=arguments["tokens"],
        labels=arguments.get("labels"),
        features=arguments["features"],
        _left=arguments.get("left"),
        _right=arguments.get("right"),
        _children=arguments.get("children"),
    )


def _tensors_of(spec: Any, value: Any) -> list[Any] | None:
    """Returns the tensors of a forest; none if they do not just fit the spec."""
    if type(value) is not spec.value_type:
        return None
    tensors: list[Any] = []
    for part, array in _parts(spec.__dict__, value.__dict__):
        if part is None and array is None:
            continue
        fits = (
            isinstance(part, tf.TensorSpec)
            and isinstance(array, tf.Tensor)
            and array.dtype == part.dtype
            and array.shape.is_subtype_of(part.shape)
        )
        if not fits:
            return None
        tensors.append(array)
    return tensors


def _parts(
    specs: Mapping[str, Any], arrays: Mapping[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """Yields each tensor's spec beside it, in the order of their specs' components."""
    for name, spec in specs.items():
        array = arrays.get(name)
        if not isinstance(spec, Mapping):
            yield spec, array
        elif isinstance(array, Mapping) and array.keys() == spec.keys():
            yield from ((spec[key], array[key]) for key in sorted(spec))
        else:
            yield spec, array


def _spec_of_rows(array: Any) -> Any:
    if isinstance(array, tf.RaggedTensor):
        return CHILDREN_SPEC
    return tf.TensorSpec(
        tf.TensorShape([None]).concatenate(array.shape[1:]), array.dtype
    )


def _no_rows(spec: Any) -> Any:
    if isinstance(spec, tf.RaggedTensorSpec):
        none = tf.zeros([0], spec.dtype)
        return tf.RaggedTensor.from_row_splits(none, tf.zeros([1], tf.int64))
    return tf.zeros([0, *(size or 0 for size in spec.shape[1:])], spec.dtype)


CHILD_SPEC = tf.TensorSpec([None], tf.int32)
CHILDREN_SPEC = tf.RaggedTensorSpec([None, None], tf.int32, 1, tf.int64)
