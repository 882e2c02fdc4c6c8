"""Gradients of gradients of any function, for tests that compare two."""

import tensorflow as tf


def differentiated(run, *variables):
    """Returns a function of x to y = run(x), and the gradients by x and variables."""

    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        return [y, *tape.gradient(y, [x, *variables])]

    return function


def curvatures(function, x, variables):
    """Returns the gradients of the squared gradients of a sum, by x and variables.

    Args:
        function: Of x; also in another process, where it was loaded.
        x: A tensor.
        variables: That the function may use.
    """
    sources = [x, *variables]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        gradients = inner.gradient(y, sources, unconnected_gradients="zero")
        total = squares_of(gradients)
    return outer.gradient(total, sources, unconnected_gradients="zero")


def slopes_of_slope(f, x, sources):
    """Returns the gradients by sources of the gradient of f(x) by x."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    return outer.gradient(slope, sources)


def squares_of(gradients):
    """Returns the sum of the squares of all elements."""
    return sum(tf.reduce_sum(tf.convert_to_tensor(g) ** 2) for g in gradients)
