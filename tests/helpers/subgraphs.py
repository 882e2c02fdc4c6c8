"""SubGraphs that many tests call."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf


def define_fib(name="fib", leaf=lambda n: n, **choices):
    """Returns a SubGraph that computes Fibonacci numbers, of two calls a body."""
    with rtf.SubGraph(name, **choices) as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: leaf(n), lambda: fib(n - 1) + fib(n - 2)))
    return fib


def define_walk(fails_at, name="walk", **choices):
    """Returns a SubGraph that visits a binary tree of 15 nodes; one of them fails.

    The children of node i are 2i and 2i + 1.
    """
    with rtf.SubGraph(name, **choices) as walk:
        i = walk.input(tf.int32)
        tf.debugging.assert_none_equal(i, fails_at, message="a bad node")
        both = lambda: walk(2 * i) + walk(2 * i + 1)  # noqa: E731
        walk.output(tf.cond(i > 7, lambda: 1, both))
    return walk


def define_fragile_walk(fails_at):
    """Returns the same walk; every executor can run what fails."""
    with rtf.SubGraph("walk") as walk:
        i = walk.input(tf.int32)
        one = one_unless(tf.equal(i, fails_at))
        both = lambda: walk(2 * i) + walk(2 * i + 1)  # noqa: E731
        walk.output(one * tf.cond(i > 7, lambda: 1, both))
    return walk


def one_unless(fails):
    """Returns an int32 one, or fails if that is said."""
    number = tf.where(fails, np.inf, 1.0)
    return tf.cast(tf.debugging.check_numerics(number, "a bad node"), tf.int32)


def define_power(weight):
    """Returns a SubGraph that multiplies by a variable n times."""
    with rtf.SubGraph("power") as power:
        n, x = power.input(tf.int32), power.input(tf.float32)
        more = lambda: weight * power(n - 1, x)  # noqa: E731
        power.output(tf.cond(n < 1, lambda: x, more))
    return power


def define_hand_down(spec, *shape):
    """Returns a SubGraph that hands a value down some levels, and back up.

    Args:
        spec: A spec, or a dtype.
        shape: Of a dtype, where it is no scalar: one shape.
    """
    with rtf.SubGraph("hand_down") as hand_down:
        depth = hand_down.input(tf.int32)
        value = hand_down.input(spec, *shape)
        hand_down.output(
            tf.cond(depth < 1, lambda: value, lambda: hand_down(depth - 1, value))
        )
    return hand_down


def define_triangle():
    """Returns a SubGraph that builds [n, n - 1, ..., 1]: a shape that depends on n."""
    with rtf.SubGraph("triangle") as triangle:
        n = triangle.input(tf.int32)

        def longer():
            return tf.concat([[n], triangle(n - 1)], 0)

        def empty():
            return tf.ensure_shape(tf.zeros([n], tf.int32), [None])

        triangle.output(tf.cond(n < 1, empty, longer))
    return triangle


def define_pair():
    """Returns a SubGraph with two inputs that calls nobody."""
    with rtf.SubGraph("pair") as pair:
        n, x = pair.input(tf.int32), pair.input(tf.float32, [3])
        pair.output(n, x)
    return pair
