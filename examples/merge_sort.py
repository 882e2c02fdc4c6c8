"""Merge sort: a tensor is cut in halves until nothing is left to cut.

Halves are of any size, so no two calls have the same shapes: the dataflow executor runs
the calls, both halves in parallel.

    python -m examples.merge_sort
"""

import tensorflow as tf

import recursive_tf as rtf


@rtf.subgraph(executor="dataflow")
def merge_sort(numbers: tf.TensorSpec([None])) -> tf.TensorSpec([None]):
    """Returns the numbers in ascending order."""
    size = tf.size(numbers)
    if size < 2:
        return numbers
    half = size // 2
    return merge(merge_sort(numbers[:half]), merge_sort(numbers[half:]))


def merge(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """Returns the numbers of two ascending tensors as one.

    Before a number come those that come before it in its own tensor, and those of the
    other tensor that are less. Of equal ones, the left are first.
    """
    left_places = tf.range(tf.size(left)) + tf.searchsorted(right, left, side="left")
    right_places = tf.range(tf.size(right)) + tf.searchsorted(left, right, side="right")
    places = tf.concat([left_places, right_places], 0)
    return tf.scatter_nd(places[:, None], tf.concat([left, right], 0), tf.shape(places))


def main() -> None:
    """Sorts ten numbers."""
    numbers = tf.constant([3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5, 8.0, 9.7])
    print("before:", numbers.numpy())
    print("after: ", merge_sort(numbers).numpy())


if __name__ == "__main__":
    main()
