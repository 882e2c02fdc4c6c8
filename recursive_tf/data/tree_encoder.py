"""How TensorFlow takes batches of trees apart and puts them together.

As it does with a RaggedTensor: what stands for a batch has one row a tree in each
component, so that `tf.data` may stack, cut and join it without knowing what it is.
Nodes of encoded trees are numbered from 0 in each tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.fused import fused
from recursive_tf.data.rows import Arrays, as_arguments, map_rows, move, repeat, starts

if TYPE_CHECKING:
    from recursive_tf.data.forest import Forest

Components = tuple[Any, Any, Arrays]
LINKS = ("left", "right", "children")


class TreeEncoder(tf.experimental.ExtensionTypeBatchEncoder):
    """Roots and sizes as they are, other arrays as ragged ones, a row a tree."""

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
            raise ForestError("This is one tree, and no batch of trees.")
        return spec.with_shape([])

    def encode(self, spec: Any, value: Forest, minimum_rank: int = 0) -> Components:
        """Returns roots, sizes, and the other arrays by name."""
        del spec, minimum_rank
        if not value.shape.rank:
            return (
                value.roots,
                value.sizes,
                map_rows(value, tf.identity, tf.constant(0)),
            )
        first = starts(value.sizes)
        arrays = map_rows(value, tf.identity, -repeat(first, value.sizes))
        splits = value.row_splits
        ragged = {
            name: tf.RaggedTensor.from_row_splits(array, splits, validate=False)
            for name, array in arrays.items()
        }
        return value.roots - first, value.sizes, ragged

    def decode(self, spec: Any, encoded_value: Components) -> Forest:
        """Puts together what `encode` gave, or rows of it."""
        roots, sizes, arrays = encoded_value
        if spec.shape.rank:
            arrays = {name: array.values for name, array in arrays.items()}
            links = {name: arrays[name] for name in LINKS if name in arrays}
            roots, links = _joined(roots, sizes, links)
            arrays |= links
        forest: Forest = spec.value_type(
            roots=roots, sizes=sizes, **as_arguments(arrays)
        )
        return forest

    def encoding_specs(self, spec: Any) -> Components:
        """Returns the specs of what `encode` gives."""
        arrays = {
            name: _with_dimensions(array, spec.shape.rank)
            for name, array in spec.arrays.items()
        }
        return spec.roots, spec.sizes, arrays


@fused
def _joined(
    roots: tf.Tensor, sizes: tf.Tensor, links: Arrays
) -> tuple[tf.Tensor, Arrays]:
    """Returns roots and links of trees that stand one after the other."""
    first = starts(sizes)
    shift = repeat(first, sizes)
    return roots + first, {name: move(link, shift) for name, link in links.items()}


def _with_dimensions(spec: Any, rank: int) -> tf.RaggedTensorSpec:
    """Returns the spec of ragged values with `rank` more dimensions outside."""
    ragged_rank = getattr(spec, "ragged_rank", 0)
    shape = tf.TensorShape([None] * rank).concatenate(spec.shape)
    return tf.RaggedTensorSpec(shape, spec.dtype, rank + ragged_rank, tf.int64)
