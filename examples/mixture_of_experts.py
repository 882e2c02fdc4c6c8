"""A hierarchical mixture of experts: gates decide which experts are worth running.

Experts, here straight lines, are the leaves of a binary tree, and every other node is a
gate. A gate that is sure descends to one side; one that is in doubt descends to both,
and mixes. So an example runs one expert, some or all, as the gates learned. They learn
a zigzag, and to do with fewer and fewer experts. All examples descend at once.

    python -m examples.mixture_of_experts
"""

import tensorflow as tf

import recursive_tf as rtf

DEPTH = 2
NUM_GATES = 2**DEPTH - 1
SURE = 0.05  # So little of the other side can be left out.


class Mixture(tf.Module):
    """Gates and experts, each a line. Below node n are the nodes 2n + 1 and 2n + 2."""

    def __init__(self) -> None:
        """Makes gates that split the numbers from -1 to 1, and flat experts."""
        super().__init__()
        places = [(2 * i + 1) / 2**d - 1 for d in range(DEPTH) for i in range(2**d)]
        slopes = tf.fill([NUM_GATES], 3.0)
        gates = tf.stack([slopes, -slopes * places], 1)
        self.gates = tf.Variable(gates, name="gates")
        self.experts = tf.Variable(tf.zeros([NUM_GATES + 1, 2]), name="experts")

    @rtf.subgraph
    def descend(self, x: tf.float32, node: tf.int32) -> (tf.float32, tf.float32):
        """Returns what the experts below a node say, and how many it asked."""
        if node >= NUM_GATES:
            return line(self.experts, node - NUM_GATES, x), 1.0
        right_weight = tf.sigmoid(line(self.gates, node, x))
        if right_weight < SURE:
            return self.descend(x, 2 * node + 1)
        if right_weight > 1 - SURE:
            return self.descend(x, 2 * node + 2)
        left, left_count = self.descend(x, 2 * node + 1)
        right, right_count = self.descend(x, 2 * node + 2)
        return left + right_weight * (right - left), left_count + right_count


def line(lines: tf.Variable, index: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Returns the value of one of some lines, `[lines, 2]`: slope, and value at 0."""
    slope, offset = tf.unstack(tf.gather(lines, index))
    return slope * x + offset


def zigzag(x: tf.Tensor) -> tf.Tensor:
    """Returns a line that turns at -0.5, 0 and 0.5."""
    return tf.abs(tf.abs(4 * x) - 2) - 1


def train(mixture: Mixture, x: tf.Tensor, steps: int) -> list[tuple[float, float]]:
    """Returns the losses of all steps, and how many experts an example ran."""
    optimizer = tf.keras.optimizers.Adam(0.1)
    nodes = tf.zeros(x.shape, tf.int32)

    @tf.function
    def step() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            found, counts = mixture.descend.map(x, nodes)
            loss = tf.reduce_mean((found - zigzag(x)) ** 2)
        variables = mixture.trainable_variables
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss, tf.reduce_mean(counts)

    return [tuple(map(float, step())) for _ in range(steps)]


def main() -> None:
    """Trains on a zigzag."""
    history = train(Mixture(), tf.linspace(-1.0, 1.0, 201), steps=400)
    for step in (0, 50, 200, 399):
        loss, count = history[step]
        print(f"step {step}: loss {loss:.4f}, {count:.2f} experts an example")


if __name__ == "__main__":
    main()
