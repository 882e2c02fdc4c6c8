"""Binary trees over the words of sentences, made by TensorFlow: in a graph, too.

The trees are those that `shapes.shaped_tree` makes in Python, node by node. So a model
that was trained on those serves texts of which a graph makes trees.

A tree has its nodes in the order of `shaped_tree`: level by level from the root, and
then all of it reversed. The place of a node in the first order is its place here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest


class _Places(NamedTuple):
    """The nodes of some trees, tree by tree, from the root. All are int64[num_nodes].

    Attributes:
        trees: The number of the tree that a node is in.
        words: The word of a leaf, by its number in its sentence; -1 at inner nodes.
        left: The place of the left child in its tree; -1 at leaves.
        right: As `left`.
    """

    trees: tf.Tensor
    words: tf.Tensor
    left: tf.Tensor
    right: tf.Tensor


def joined_words(words: tf.RaggedTensor, shape: str) -> Forest:
    """Returns a batch of trees: one over each row of words.

    >>> words = tf.ragged.constant([["not", "a", "dull", "film"]])
    >>> joined_words(words, "linear").to_nested()
    [['not', ['a', ['dull', 'film']]]]

    Args:
        words: Strings or whole numbers, `[num_trees, (words)]`.
        shape: "balanced" or "linear".

    Raises:
        ForestError: If the shape is drawn at random, or `words` are no rows of words.
            A row without words is an `InvalidArgumentError`.
    """
    if shape not in _PLACES:
        raise ForestError(
            f"Trees of the shape {shape!r} are drawn in Python. Pass lists of words, "
            f"or take one of {[*_PLACES]}, which TensorFlow can make."
        )
    if words.ragged_rank != 1 or words.flat_values.shape.rank != 1:
        raise ForestError(
            f"Words must be [num_trees, (words)]. Got {words.shape} with "
            f"{words.ragged_rank} ragged dimensions."
        )
    lengths = tf.cast(words.row_lengths(), tf.int64)
    some = tf.debugging.assert_positive(
        lengths, "A sentence has no words, so it is no tree"
    )
    with tf.control_dependencies([some] if some is not None else []):
        return _forest_of(words, _PLACES[shape](tf.identity(lengths)))


def _forest_of(words: tf.RaggedTensor, places: _Places) -> Forest:
    sizes = 2 * words.row_lengths() - 1
    ends = tf.cast(tf.cumsum(sizes), tf.int64)
    is_leaf = places.words >= 0
    of_leaf = tf.gather(tf.cast(words.row_starts(), tf.int64), places.trees)
    tokens = tf.where(
        is_leaf,
        tf.gather(words.values, tf.where(is_leaf, of_leaf + places.words, 0)),
        "" if words.dtype == tf.string else tf.constant(-1, words.dtype),
    )
    last = tf.gather(ends, places.trees) - 1  # Where the root of the node's tree is.
    rows = last - _ranks(places.trees)
    links = [
        tf.where(is_leaf, tf.constant(-1, tf.int64), last - child)
        for child in (places.left, places.right)
    ]
    order = tf.math.invert_permutation(tf.cast(rows, tf.int32))
    tokens, left, right = (tf.gather(array, order) for array in (tokens, *links))
    return Forest(tokens=tokens, left=left, right=right, roots=ends - 1, sizes=sizes)


def _ranks(trees: tf.Tensor) -> tf.Tensor:
    """Returns for each node how many of its tree stand before it."""
    starts = tf.searchsorted(trees, trees, out_type=tf.int64)
    return tf.range(tf.size(trees, tf.int64)) - starts


def _balanced(lengths: tf.Tensor) -> _Places:
    """Halves each part. Parts have the numbers of a heap.

    The halves of the part h are 2h and 2h + 1. A part is there if the part above it has
    at least two words.
    """
    begins, ends = _heaps(lengths)
    numbers = tf.range(1, tf.shape(begins)[1] + 1)
    above = tf.maximum(numbers // 2, 1) - 1
    sizes = ends - begins
    is_there = (numbers == 1) | (tf.gather(sizes, above, axis=1) > 1)
    # How many parts of its tree are nearer to the root.
    ranks = tf.cumsum(tf.cast(is_there, tf.int64), axis=1, exclusive=True)
    below = tf.minimum(2 * numbers, tf.size(numbers)) - 1
    is_leaf, nothing = sizes == 1, tf.constant(-1, tf.int64)
    left = tf.where(is_leaf, nothing, tf.gather(ranks, below, axis=1))
    right = tf.where(is_leaf, nothing, left + 1)
    words = tf.where(is_leaf, begins, nothing)
    arrays = (tf.boolean_mask(array, is_there) for array in (words, left, right))
    return _Places(tf.where(is_there)[:, 0], *arrays)


def _heaps(lengths: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the first word of each part, and the first one after it.

    Both are `[num_trees, number of a part - 1]`. The last level has no part of several
    words.
    """

    def halve(begins: tf.Tensor, ends: tf.Tensor, *all_parts: tf.Tensor) -> list[Any]:
        middles = begins + (ends - begins) // 2
        shape = [tf.shape(begins)[0], 2 * tf.shape(begins)[1]]
        begins = tf.reshape(tf.stack([begins, middles], 2), shape)
        ends = tf.reshape(tf.stack([middles, ends], 2), shape)
        with_these = zip(all_parts, (begins, ends), strict=True)
        return [begins, ends, *(tf.concat(pair, 1) for pair in with_these)]

    def has_more(begins: tf.Tensor, ends: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
        return tf.reduce_any(ends - begins > 1)

    ends = lengths[:, tf.newaxis]
    parts = [tf.zeros_like(ends), ends]
    wide = [tf.TensorShape([lengths.shape[0], None])] * 4
    *_, begins, ends = tf.while_loop(has_more, halve, 2 * parts, shape_invariants=wide)
    return begins, ends


def _linear(lengths: tf.Tensor) -> _Places:
    """Splits off the first word. A node, its word and its rest follow each other."""
    sizes = 2 * lengths - 1
    places = tf.ragged.range(sizes)
    trees = tf.cast(places.value_rowids(), tf.int64)
    place, last = places.values, tf.gather(sizes, trees) - 1
    is_leaf = (place % 2 == 1) | (place == last)
    nothing = tf.constant(-1, tf.int64)
    return _Places(
        trees,
        tf.where(is_leaf, place // 2, nothing),
        tf.where(is_leaf, nothing, place + 1),
        tf.where(is_leaf, nothing, place + 2),
    )


_PLACES: dict[str, Callable[[tf.Tensor], _Places]] = {
    "balanced": _balanced,
    "linear": _linear,
}
