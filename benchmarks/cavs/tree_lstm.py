"""TreeLSTM (Tai et al. 2015) over parses of sentences, with a loss at every node."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

import tensorflow as tf

import recursive_tf as rtf
from benchmarks.cavs.program import (
    VOCABULARY,
    Batch,
    Form,
    Program,
    Result,
    pair_of,
    parts_of,
    product,
    random_variable,
)

# Of generated sentences: about those of the Stanford Sentiment Treebank.
LENGTHS = range(3, 38)
State = tuple[tf.Tensor, tf.Tensor]


class TreeLstm(tf.Module):
    """The weights."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.table = random_variable(1, 2 * VOCABULARY, units)
        self.leaf_kernel = random_variable(2, units, 3 * units)
        self.leaf_bias = tf.Variable(tf.zeros([3 * units]))
        self.kernel = random_variable(3, 2 * units, 5 * units)
        self.bias = tf.Variable(tf.zeros([5 * units]))

    def leaf(self, word: tf.Tensor) -> State:
        """Returns h and c of a leaf."""
        x = tf.gather(self.table, word)
        i, o, u = tf.split(product(x, self.leaf_kernel) + self.leaf_bias, 3)
        return _state(o, tf.sigmoid(i) * tf.tanh(u))

    def inner(self, left: State, right: State) -> State:
        """Returns h and c of a node over its children."""
        gates = product(tf.concat([left[0], right[0]], 0), self.kernel) + self.bias
        i, f_l, f_r, o, u = tf.split(gates, 5)
        c = tf.sigmoid(i) * tf.tanh(u)
        return _state(o, c + tf.sigmoid(f_l) * left[1] + tf.sigmoid(f_r) * right[1])


def _state(o: tf.Tensor, c: tf.Tensor) -> State:
    return tf.sigmoid(o) * tf.tanh(c), c


def vertex(
    cell: TreeLstm, result: Result = tf.identity, options: rtf.Options | None = None
) -> Form:
    """Returns the results of h of nodes, by a vertex function."""

    @rtf.vertex(state=pair_of(cell.units), options=options)
    def node(v: rtf.Vertex) -> None:
        word, left, right = v.pull(), v.gather(0), v.gather(1)
        h, c = tf.cond(
            v.num_inputs > 0,
            lambda: cell.inner(left, right),
            lambda: cell.leaf(word),
        )
        v.scatter((h, c))
        v.push(result(h))

    return lambda forest: node(forest, forest.tokens)


def subgraph(cell: TreeLstm) -> Form:
    """Returns h of nodes, by a recursion from the roots."""

    def run(forest: rtf.data.Forest) -> tf.Tensor:
        is_leaf = forest.is_leaf
        with rtf.SubGraph("tree") as tree:
            node = tree.input(tf.int32)

            def leaf() -> State:
                return cell.leaf(tf.gather(forest.tokens, node))

            def inner() -> State:
                left, right = (
                    tree(tf.gather(side, node)) for side in (forest.left, forest.right)
                )
                return cell.inner(left, right)

            h, c = tf.cond(tf.gather(is_leaf, node), leaf, inner)
            tree.push("h", h, index=node, size=forest.num_nodes)
            tree.output((h, c))
        return tree.map(forest.roots, with_pushed=True)[1]["h"]

    return run


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of trees: of the treebank in a folder, or generated ones."""
    if folder is None:
        trees = rtf.data.generate(
            "random", size * count, words=LENGTHS, vocabulary=VOCABULARY
        )
    else:
        read = rtf.data.read_sst(folder / "sst" / "train.txt").load()
        words = rtf.data.vocabulary(read)
        trees = rtf.data.encode(read[: size * count], tokens=words)
    return parts_of(trees, size)


PROGRAM = Program("Tree-LSTM", TreeLstm, vertex, subgraph, batches)
