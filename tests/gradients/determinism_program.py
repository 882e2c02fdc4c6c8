"""Takes gradients where the same ones are asked for each time, and says what it got.

Usage: python -m tests.gradients.determinism_program EXECUTOR

It is a process of its own, since nothing public takes the demand back.
"""

import sys

import tensorflow as tf

import recursive_tf as rtf

TIMES = 20


def make_recursion(executor):
    """Returns one whose weights and rows many invocations use at the same time."""
    keys = tf.random.Generator.from_seed(0)
    weight = tf.Variable(keys.normal([16, 16]) / 4)
    rows = tf.Variable(keys.normal([3, 16]))
    with rtf.SubGraph("bush", executor=executor) as bush:
        n = bush.input(tf.int32)

        def more():
            below = bush(n - 1) + tf.linalg.matvec(weight, bush(n // 2 - 1))
            return tf.tanh(below + tf.gather(rows, n % 3) * weight[0])

        bush.output(tf.cond(n < 1, lambda: tf.gather(rows, 0), more))
    return bush, weight, rows


def main(executor):
    tf.config.experimental.enable_op_determinism()
    bush, weight, rows = make_recursion(executor)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = bush.map(tf.range(9))
        gradients = tape.gradient(y, [weight, rows])
        return [tf.convert_to_tensor(each) for each in (y, *gradients)]

    found = {tuple(each.numpy().tobytes() for each in step()) for _ in range(TIMES)}
    sys.stdout.write(f"{len(found)} different\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
