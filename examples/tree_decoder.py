"""A decoder that grows a tree, and decides from its own state where to go on.

The state of a node is made from those of its parent and of the sibling before it. From
it follow its label, whether it has children, and whether it has a sibling after it: the
next calls. `loss` follows a given tree, and is trained; `grow` follows what was
learned, as deep as its table has rows. They share their weights.
Source: Alvarez-Melis and Jaakkola, "Tree-structured decoding with doubly-recurrent
neural networks", ICLR 2017.

    python -m examples.tree_decoder
"""

import itertools
from collections.abc import Iterator

import tensorflow as tf

import recursive_tf as rtf

# A given tree: the label, the first child and the next sibling of every node.
LABEL = list("SNdanVvNnp")
CHILD = [1, 2, -1, -1, -1, 6, -1, 8, -1, -1]
SIBLING = [-1, 5, 3, 4, -1, 9, 7, -1, -1, -1]

LABELS = sorted(set(LABEL))
SIZE = 16
# What is grown is a binary tree: after row r come its first child, in row 2r + 1, and
# its next sibling, in row 2r + 2.
NUM_ROWS = 2**8 - 1


class Decoder(tf.Module):
    """Weights, and two ways to walk through a tree with them."""

    def __init__(self, seed: int = 0) -> None:
        """Makes random weights."""
        super().__init__()
        normal = tf.random.Generator.from_seed(seed).normal
        self.state_weights = tf.Variable(normal([2 * SIZE, SIZE]) / SIZE**0.5)
        self.label_weights = tf.Variable(normal([SIZE, len(LABELS)]) / SIZE**0.5)
        self.next_weights = tf.Variable(normal([SIZE, 2]) / SIZE**0.5)

    def node(self, parent: tf.Tensor, before: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns a state, and logits: of its label, and of a child and a sibling."""
        both = tf.concat([parent, before], 0)
        state = tf.tanh(tf.linalg.matvec(self.state_weights, both, transpose_a=True))
        label = tf.linalg.matvec(self.label_weights, state, transpose_a=True)
        goes_on = tf.linalg.matvec(self.next_weights, state, transpose_a=True)
        return state, label, goes_on

    @rtf.subgraph
    def loss(self, node, parent, before):
        """Returns the loss of a node of the given tree, and of all after it."""
        state, label, goes_on = self.node(parent, before)
        child, sibling = tf.gather(CHILD, node), tf.gather(SIBLING, node)
        wanted = tf.gather([LABELS.index(text) for text in LABEL], node)
        exists = tf.cast(tf.stack([child, sibling]) > 0, tf.float32)
        total = tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, label)
        total += tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(exists, goes_on))
        if child > 0:
            total += self.loss(child, state, tf.zeros([SIZE]))
        if sibling > 0:
            total += self.loss(sibling, parent, state)
        return total

    @rtf.subgraph
    def grow(self, row, parent, before):
        """Pushes the label of a node, and grows what is after it; returns its size."""
        state, label, goes_on = self.node(parent, before)
        self.grow.push("label", 1 + tf.argmax(label), index=row, size=NUM_ROWS)
        child, sibling = 2 * row + 1, 2 * row + 2
        size = 1
        if goes_on[0] > 0 and child < NUM_ROWS:
            size += self.grow(child, state, tf.zeros([SIZE]))
        if goes_on[1] > 0 and sibling < NUM_ROWS:
            size += self.grow(sibling, parent, state)
        return size


def train(decoder: Decoder) -> Iterator[float]:
    """Learns the given tree, step by step; yields the losses."""
    optimizer = tf.keras.optimizers.Adam(0.02)

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = decoder.loss(0, tf.ones([SIZE]), tf.zeros([SIZE]))
        variables = decoder.trainable_variables
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    while True:
        yield float(step())


def grown(decoder: Decoder) -> str:
    """Returns the tree that a decoder grows, as a text."""
    start = tf.ones([SIZE]), tf.zeros([SIZE])
    _, pushed = decoder.grow(0, *start, with_pushed=True)
    return text_of(["", *LABELS], pushed["label"].numpy())


def text_of(labels: list[str], table: list[int], row: int = 0) -> str:
    """Returns a node in a table of labels, and those after it, as a text.

    >>> text_of(["", "S", "N", "V"], [1, 2, 0, 0, 3, 0, 0])
    'S(N V)'
    """
    if row >= len(table) or table[row] == 0:
        return ""
    children, siblings = (text_of(labels, table, 2 * row + side) for side in (1, 2))
    text = labels[table[row]] + (f"({children})" if children else "")
    return f"{text} {siblings}" if siblings else text


def main() -> None:
    """Learns a tree."""
    decoder = Decoder()
    print("before:        ", grown(decoder))
    for loss in itertools.islice(train(decoder), 0, 61, 20):
        print(f"loss {loss:9.5f}:", grown(decoder))


if __name__ == "__main__":
    main()
