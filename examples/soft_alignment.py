"""Soft dynamic time warping: a dynamic program with `memo=`.

A cell of a grid needs three others, which need each other: without `memo=` there are
more calls than atoms, with it one for each cell. The gradient by the costs says how
likely each pair of steps is to be aligned.

Source: Cuturi and Blondel, "Soft-DTW: a Differentiable Loss Function for Time-Series",
ICML 2017.

    python -m examples.soft_alignment
"""

import tensorflow as tf

import recursive_tf as rtf


def soft_minimum(values, temperature):
    """Returns a smooth lower bound of the least value."""
    return -temperature * tf.reduce_logsumexp(-tf.stack(values) / temperature)


@tf.function
def alignment_cost(costs, temperature=0.1):
    """Returns the cost of aligning two series, from that of each pair of steps."""
    rows, columns = tf.unstack(tf.shape(costs))

    def place(i, j):
        return i * columns + j

    @rtf.subgraph(memo=place)
    def least(i, j):
        here = costs[i, j]
        if i == 0 and j == 0:
            return here
        if i == 0:
            return here + least(i, j - 1)
        if j == 0:
            return here + least(i - 1, j)
        before = [least(i - 1, j - 1), least(i - 1, j), least(i, j - 1)]
        return here + soft_minimum(before, temperature)

    return least(rows - 1, columns - 1)


def main() -> None:
    """Aligns a series with a slower one."""
    one = tf.sin(tf.linspace(0.0, 6.0, 8))
    other = tf.sin(6.0 * tf.linspace(0.0, 1.0, 12) ** 2)
    costs = tf.square(one[:, tf.newaxis] - other)
    with tf.GradientTape() as tape:
        tape.watch(costs)
        cost = alignment_cost(costs)
    print(f"cost {float(cost):.3f}; how likely each pair of steps is:")
    for row in tape.gradient(cost, costs).numpy():
        print(" ".join(f"{likely:.2f}" if likely > 0.005 else "   ." for likely in row))


if __name__ == "__main__":
    main()
