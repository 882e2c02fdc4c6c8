"""A TreeLSTM, cell and recursion, as a module: the plain way to write one.

A node's state is made from its children's; the h of every node is pushed to the root,
so that a classifier outside can label all nodes at once. `rtf.layers` has the same as a
Keras layer; begin with this one to write a recursion of another kind.

    python -m examples.tree_lstm
"""

from typing import Any, NamedTuple

import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.data import Forest


class State(NamedTuple):
    """What a node hands to its parent, each of shape [hidden]."""

    h: tf.Tensor
    c: tf.Tensor


class TreeLSTMCell(tf.Module):
    """The binary TreeLSTM with words at the leaves only.

    Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured
    Long Short-Term Memory Networks. ACL 2015, equations 9 to 14 with N = 2; their
    constituency TreeLSTM. A leaf has no children and so no forget gate; an internal
    node has no word.

    Attributes:
        hidden: The length of `h` and of `c`.
        embedding: A row for each word, float32[vocabulary, embedding].
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden: int) -> None:
        super().__init__(name="tree_lstm_cell")
        self.hidden = hidden
        glorot = tf.keras.initializers.GlorotUniform()
        uniform = tf.keras.initializers.RandomUniform(-0.05, 0.05)
        self.embedding = tf.Variable(
            uniform([vocabulary_size, embedding_size]), name="embedding"
        )
        self._leaf_weights = tf.Variable(
            glorot([embedding_size, 3 * hidden]), name="leaf_weights"
        )
        self._leaf_bias = tf.Variable(tf.zeros([3 * hidden]), name="leaf_bias")
        self._weights = tf.Variable(glorot([2 * hidden, 5 * hidden]), name="weights")
        self._bias = tf.Variable(tf.zeros([5 * hidden]), name="bias")

    def embed(self, tokens: tf.Tensor) -> tf.Tensor:
        """Returns the vectors of words, int32[...] to float32[..., embedding]."""
        return tf.gather(self.embedding, tokens)

    def leaf(self, x: tf.Tensor) -> State:
        """Returns the state of a leaf with word vector `x`, float32[embedding]."""
        gates = _product(x, self._leaf_weights) + self._leaf_bias
        i, o, u = tf.split(gates, 3)
        return _state(o, tf.sigmoid(i) * tf.tanh(u))

    def __call__(self, left: State, right: State) -> State:
        """Returns the state of the node over two children."""
        children = tf.concat([left.h, right.h], axis=0)
        gates = _product(children, self._weights) + self._bias
        i, f_left, f_right, o, u = tf.split(gates, 5)
        c = tf.sigmoid(i) * tf.tanh(u)
        c += tf.sigmoid(f_left) * left.c + tf.sigmoid(f_right) * right.c
        return _state(o, c)


def _product(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    """Returns the row vector `x` times a matrix."""
    return tf.linalg.matvec(weights, x, transpose_a=True)


def _state(o: tf.Tensor, c: tf.Tensor) -> State:
    return State(tf.sigmoid(o) * tf.tanh(c), c)


def encode(
    forest: Forest, cell: TreeLSTMCell, **choices: Any
) -> tuple[State, tf.Tensor]:
    """Runs a cell over every node of a forest.

    Args:
        forest: The trees.
        cell: What a node computes.
        **choices: Of the SubGraph, e.g. its executor.

    Returns:
        The states of the roots, each float32[num_trees, hidden], and `h` of every
        node, float32[num_nodes, hidden].
    """
    with rtf.SubGraph("tree_lstm", **choices) as tree_lstm:
        node = tree_lstm.input(tf.int32)

        def leaf() -> State:
            return cell.leaf(cell.embed(tf.gather(forest.tokens, node)))

        def internal() -> State:
            left = tf.gather(forest.left, node)
            right = tf.gather(forest.right, node)
            return cell(tree_lstm(left), tree_lstm(right))

        state = tf.cond(tf.gather(forest.left, node) < 0, leaf, internal)
        tree_lstm.push("h", state.h, index=node, size=forest.num_nodes)
        tree_lstm.output(state)

    roots, pushed = tree_lstm.map(forest.roots, with_pushed=True)
    return roots, pushed["h"]


def main() -> None:
    """Encodes three trees, and takes a gradient."""
    trees = rtf.data.generate("random", 3, words=range(2, 9), vocabulary=100)
    cell = TreeLSTMCell(vocabulary_size=100, embedding_size=8, hidden=4)

    @tf.function
    def step(trees: Forest) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            roots, h = encode(trees, cell)
            loss = tf.reduce_mean(h**2)
        return roots.h, h, tape.gradient(loss, cell.trainable_variables)

    roots, h, gradients = step(trees)
    print("h of roots:", roots.shape, "h of nodes:", h.shape)
    for variable, gradient in zip(cell.trainable_variables, gradients, strict=True):
        norm = tf.linalg.global_norm([gradient])
        print(f"gradient of {variable.name}: norm {norm:.2g}")


if __name__ == "__main__":
    main()
