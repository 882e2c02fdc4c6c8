"""Makes a forest of words that know their depths, and on which side their heads are."""

import tensorflow as tf

from models.dependency.building import forest_of_heads
from models.dependency.cells import NO_WORD
from models.dependency.edges import LEFT, NONE, ROOT
from models.dependency.growing import CUT, DEPTH, SIDE, WORD
from recursive_tf.data import Forest


def assemble(rows: tf.Tensor) -> Forest:
    """Returns the trees that `grow` made, as a batch.

    Tokens are words; the feature `cut` is how many edges a word was to have but for
    limits.

    Args:
        rows: As `grow` returns, int32[num_trees, places, 4].
    """
    is_word = rows[:, :, WORD] != NO_WORD
    tree = tf.cast(tf.where(is_word)[:, 0], tf.int32)
    columns = tf.unstack(tf.boolean_mask(rows, is_word), axis=1)
    return forest_of_heads(
        columns[WORD],
        _heads(tree, columns[DEPTH], columns[SIDE]),
        tf.reduce_sum(tf.cast(is_word, tf.int32), axis=1),
        {"cut": columns[CUT]},
    )


def _heads(tree: tf.Tensor, depth: tf.Tensor, side: tf.Tensor) -> tf.Tensor:
    """Returns each word's head: the next one on its side that is one less deep.

    All between the two are dependents of that head too, or below these, and so deeper.
    """
    place = tf.range(tf.size(tree), dtype=tf.int64)
    num_words = tf.size(tree, tf.int64)
    level = tf.cast(tree * (tf.reduce_max(depth) + 2) + depth, tf.int64)
    # Words by level; where this one would be, were it one less deep, is its head.
    words = tf.sort(level * num_words + place)
    found = tf.searchsorted(words, (level - 1) * num_words + place)
    found = tf.where(side == LEFT, found, tf.maximum(found - 1, 0))
    heads = tf.cast(tf.gather(words, found) % num_words, tf.int32)
    return tf.where(side == ROOT, NONE, heads)
