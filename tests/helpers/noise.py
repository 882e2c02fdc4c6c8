"""Steps of recursions that draw random numbers in different places."""

import tensorflow as tf

import recursive_tf as rtf

SIZE = 1000


def in_a_loop(y, n):
    turn = lambda i, z: (i + 1, z * tf.random.normal([SIZE]))  # noqa: E731
    return tf.while_loop(lambda i, _: i < n, turn, (0, y))[1]


def in_a_loop_of_three_turns(y, n):
    del n
    turn = lambda i, z: (i + 1, z * tf.random.normal([SIZE]))  # noqa: E731
    return tf.while_loop(lambda i, _: i < 3, turn, (0, y))[1]


def in_a_loop_in_a_loop(y, n):
    turn = lambda i, z: (i + 1, in_a_loop(z, n) * tf.random.normal([SIZE]))  # noqa: E731
    return tf.while_loop(lambda i, _: i < 2, turn, (0, y))[1]


def in_a_branch(y, n):
    return tf.cond(
        n % 2 < 1,
        lambda: y * tf.random.normal([SIZE]),
        lambda: y * (1 + tf.random.uniform([SIZE])),
    )


def in_a_branch_of_a_loop(y, n):
    turn = lambda i, z: (i + 1, in_a_branch(z, i + n))  # noqa: E731
    return tf.while_loop(lambda i, _: i < n, turn, (0, y))[1]


def in_a_function(y, n):
    del n
    return tf.function(lambda y: y * tf.random.normal([SIZE]))(y)


def in_a_map(y, n):
    del n
    return tf.reduce_prod(define_noise().map(tf.stack([y, y + 1, y + 2])), 0)


def in_a_loop_of_calls(y, n):
    noise = define_noise()
    return tf.while_loop(lambda i, _: i < n, lambda i, z: (i + 1, noise(z)), (0, y))[1]


def define_noise():
    with rtf.SubGraph("noise") as noise:
        noise.output(noise.input(tf.float32, [SIZE]) * tf.random.normal([SIZE]))
    return noise


# By their names.
PLACES = {
    step.__name__: step
    for step in (
        in_a_loop,
        in_a_loop_of_three_turns,
        in_a_loop_in_a_loop,
        in_a_branch,
        in_a_branch_of_a_loop,
        in_a_function,
        in_a_map,
        in_a_loop_of_calls,
    )
}
