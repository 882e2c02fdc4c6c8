"""How TensorFlow takes batches of trees apart and puts them together.

As it does with a RaggedTensor: what stands for a batch has one row a tree in each
component, so that `tf.data` may stack, cut and join it without knowing what it is. The
rows of an array that are a tree's become one variant. Nodes of encoded trees are
numbered from 0 in each tree.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.fused import fused
from recursive_tf.data.rows import Arrays, as_arguments, map_rows, move, repeat, starts

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

# Roots, sizes, and variants by the names of arrays.
Components = tuple[Any, Any, dict[str, Any]]
LINKS = ("left", "right", "children")


class BatchEncoder(tf.experimental.ExtensionTypeBatchEncoder):
    """Roots and sizes as they are; of other arrays a variant a tree."""

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """Returns the spec of a batch; how many trees it has is not in it."""
        del batch_size
        if spec.shape.rank:
            raise ForestError(
                "A batch of trees cannot be batched once more. To make batches of "
                "another size, use dataset.rebatch(...) or dataset.unbatch() first."
            )
        return spec.with_shape([None])

    def unbatch(self, spec: Any) -> Any:
        """Returns the spec of one tree of a batch."""
        if not spec.shape.rank:
            raise ForestError("This is one tree, and not a batch of trees.")
        return spec.with_shape([])

    def encode(self, spec: Any, value: Forest, minimum_rank: int = 0) -> Components:
        """Returns roots, sizes, and variants."""
        del spec, minimum_rank
        return _encoded_batch(value) if value.shape.rank else _encoded_tree(value)

    def decode(self, spec: Any, encoded_value: Components) -> Forest:
        """Puts together what `encode` gave, or rows of it."""
        roots, sizes, variants = encoded_value
        decode = _decoder(spec.shape.rank, tuple(spec.arrays.items()))
        roots, arrays = decode(roots, sizes, variants)
        forest: Forest = spec.value_type(
            roots=roots, sizes=sizes, **as_arguments(arrays)
        )
        return forest

    def encoding_specs(self, spec: Any) -> Components:
        """Returns the specs of what `encode` gives."""
        variant = tf.TensorSpec(spec.shape, tf.variant)
        return spec.roots, spec.sizes, dict.fromkeys(spec.arrays, variant)


@fused
def _encoded_tree(forest: Forest) -> Components:
    arrays = map_rows(forest, tf.identity, tf.constant(0))
    variants = {name: _variant(array, ()) for name, array in arrays.items()}
    return forest.roots, forest.sizes, variants


@fused
def _encoded_batch(forest: Forest) -> Components:
    first = starts(forest.sizes)
    arrays = map_rows(forest, tf.identity, -repeat(first, forest.sizes))
    splits = [forest.row_splits]
    variants = {name: _variant(array, splits) for name, array in arrays.items()}
    return forest.roots - first, forest.sizes, variants


def _variant(array: Any, splits: Sequence[tf.Tensor]) -> tf.Tensor:
    """Returns an array as a variant, or as one for each part between splits."""
    inner = [array.row_splits] if isinstance(array, tf.RaggedTensor) else []
    return tf.raw_ops.RaggedTensorToVariant(
        rt_nested_splits=[*splits, *inner],
        rt_dense_values=array.values if inner else array,
        batched_input=bool(splits),
    )


@functools.cache
def _decoder(rank: int, specs: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    """Returns what makes global roots and arrays of roots, sizes, and variants.

    Args:
        rank: 0 for a tree, 1 for a batch.
        specs: The names and specs of arrays.
    """

    @fused
    def decode(
        roots: tf.Tensor, sizes: tf.Tensor, variants: dict[str, tf.Tensor]
    ) -> tuple[tf.Tensor, Arrays]:
        arrays = {name: _array(variants[name], rank, spec) for name, spec in specs}
        if not rank:
            return roots, arrays
        first = starts(sizes)
        shift = repeat(first, sizes)
        links = {name: move(arrays[name], shift) for name in LINKS if name in arrays}
        return roots + first, arrays | links

    return decode


def _array(variant: tf.Tensor, rank: int, spec: Any) -> Any:
    """Returns the rows of one variant, or of a vector of them, one after the other."""
    inner = getattr(spec, "ragged_rank", 0)
    splits, values = tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=variant,
        input_ragged_rank=inner,
        output_ragged_rank=rank + inner,
        Tvalues=spec.dtype,
        Tsplits=tf.int64,
    )
    if inner:
        values = tf.ensure_shape(values, [None])
        return tf.RaggedTensor.from_row_splits(values, splits[-1], validate=False)
    if spec.shape[1:].is_fully_defined():
        # No variants at all do not say how long the rows are.
        return tf.reshape(values, [-1, *spec.shape[1:]])
    return tf.ensure_shape(values, spec.shape)
