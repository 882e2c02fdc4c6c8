"""Labels of sentiment, and what they are made of."""

import tensorflow as tf

from recursive_tf.data import Forest

NO_LABEL = -1


def without_neutral(forest: Forest, classes: int) -> Forest:
    """Returns a forest labeled 0, negative, and 1, positive; -1 where it is neutral.

    Args:
        forest: Labeled from the most negative, 0, to the most positive.
        classes: How many labels there are.
    """
    middle = (classes - 1) / 2
    labels = tf.cast(forest.labels, tf.float32)
    sides = tf.cast(labels > middle, forest.labels.dtype)
    return forest.replace(labels=tf.where(labels == middle, NO_LABEL, sides))
