"""Tree-FC: a fully connected layer over complete trees of 256 leaves.

Looks, Herreshoff, Hutchins, Norvig. Deep Learning with Dynamic Computation Graphs. ICLR
2017, section 3.2. The loss is of roots.
"""

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
    parts_of,
    product,
    random_variable,
)

LEAVES = 256


class TreeFc(tf.Module):
    """The weights."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.table = random_variable(1, VOCABULARY, units)
        self.kernel = random_variable(2, 2 * units, units)
        self.bias = tf.Variable(tf.zeros([units]))

    def leaf(self, word: tf.Tensor) -> tf.Tensor:
        """Returns h of a leaf."""
        return tf.gather(self.table, word)

    def inner(self, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
        """Returns h of a node over its children."""
        return tf.nn.relu(product(tf.concat([left, right], 0), self.kernel) + self.bias)


def vertex(cell: TreeFc) -> Form:
    """Returns h of roots, by a vertex function."""

    @rtf.vertex(state=tf.TensorSpec([cell.units]))
    def node(v: rtf.Vertex) -> None:
        word, left, right = v.pull(), v.gather(0), v.gather(1)
        h = tf.cond(
            v.num_inputs > 0,
            lambda: cell.inner(left, right),
            lambda: cell.leaf(word),
        )
        v.scatter(h)
        v.push(h)

    def run(forest: rtf.data.Forest) -> tf.Tensor:
        return node(forest, forest.tokens, at=forest.roots)

    return run


def subgraph(cell: TreeFc) -> Form:
    """Returns h of roots, by a recursion."""

    def run(forest: rtf.data.Forest) -> tf.Tensor:
        is_leaf = forest.is_leaf
        with rtf.SubGraph("tree") as tree:
            node = tree.input(tf.int32)

            def leaf() -> tf.Tensor:
                return cell.leaf(tf.gather(forest.tokens, node))

            def inner() -> tf.Tensor:
                left, right = (
                    tree(tf.gather(side, node)) for side in (forest.left, forest.right)
                )
                return cell.inner(left, right)

            tree.output(tf.cond(tf.gather(is_leaf, node), leaf, inner))
        return tree.map(forest.roots)

    return run


def batches(folder: pathlib.Path | None, size: int, count: int) -> Sequence[Batch]:
    """Returns batches of complete trees with random words."""
    del folder
    trees = rtf.data.generate(
        "balanced", size * count, words=LEAVES, vocabulary=VOCABULARY
    )
    return parts_of(trees, size)


PROGRAM = Program("Tree-FC", TreeFc, vertex, subgraph, batches)
