"""Programs that are explained, one that is batched and one that is not."""

import tensorflow as tf

import recursive_tf as rtf


def define_balanced(weight=2.0):
    """Returns a SubGraph that calls itself twice at each of so many levels."""
    with rtf.SubGraph("balanced") as balanced:
        depth, x = balanced.input(tf.int32), balanced.input(tf.float32)

        def leaf():
            return tf.sin(x)

        def internal():
            return weight * (balanced(depth - 1, x) + balanced(depth - 1, -x))

        balanced.output(tf.cond(depth < 1, leaf, internal))
    return balanced


def define_timed(name="timed"):
    """Returns a SubGraph that cannot be batched."""
    with rtf.SubGraph(name) as timed:
        n = timed.input(tf.int32)
        more = lambda: timed(n - 1) + tf.timestamp()  # noqa: E731
        timed.output(tf.cond(n < 1, tf.timestamp, more))
    return timed


def by_procedure(numbers):
    """Returns what is said of blocks without the places, which move with this file."""
    return {name.partition(" ")[0]: number for name, number in numbers.items()}
