"""Programs in which the order of launches matters: nodes of several kinds."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

SIZE = 3
NO_CHILD = -1
SPEC = tf.TensorSpec([None], tf.int32)


@dataclasses.dataclass(frozen=True)
class Kinds:
    """A recursion over nodes of several kinds, each with a matrix of its own.

    Attributes:
        subgraph: From a node to its state, float64 [SIZE].
        matrices: Of the kinds.
        variables: These, and the structure.
        run: From left, right, kinds and roots to the states of the roots.
    """

    subgraph: rtf.SubGraph
    matrices: list[tf.Variable]
    variables: list[tf.Variable]
    run: Callable[..., Any]


def define_kinds(num_kinds, *, name="tree", executor="batched", **options):
    """Returns a recursion over binary trees, or chains: nodes without a right child."""
    rng = np.random.default_rng(0)
    matrices = [tf.Variable(rng.normal(size=[SIZE, SIZE])) for _ in range(num_kinds)]
    left, right, kinds = (
        tf.Variable([0], shape=[None], trainable=False, dtype=tf.int32)
        for _ in range(3)
    )
    with rtf.SubGraph(name, executor=executor, options=rtf.Options(**options)) as tree:
        node = tree.input(tf.int32)

        def leaf():
            return tf.ones([SIZE], tf.float64) / tf.cast(node + 1, tf.float64)

        def one_child():
            below = tree(tf.gather(left, node))
            return by_kind(lambda: below)

        def two_children():
            first, second = tree(tf.gather(left, node)), tree(tf.gather(right, node))
            return by_kind(lambda: first - 0.5 * second)

        def by_kind(below):
            def cell(matrix):
                return lambda: tf.tanh(tf.linalg.matvec(matrix, below()))

            return tf.switch_case(tf.gather(kinds, node), list(map(cell, matrices)))

        def inner():
            is_chain = tf.gather(right, node) == NO_CHILD
            return tf.cond(is_chain, one_child, two_children)

        tree.output(tf.cond(tf.gather(left, node) == NO_CHILD, leaf, inner))

    @tf.function(input_signature=[SPEC] * 4)
    def run(new_left, new_right, new_kinds, roots):
        left.assign(new_left)
        right.assign(new_right)
        kinds.assign(new_kinds)
        return tree.map(roots)

    return Kinds(tree, matrices, [*matrices, left, right, kinds], run)


class _Builder:
    """Nodes in flat arrays."""

    def __init__(self):
        self.left, self.right, self.kinds = [], [], []

    def add(self, left=NO_CHILD, right=NO_CHILD, kind=0):
        self.left.append(left)
        self.right.append(right)
        self.kinds.append(kind)
        return len(self.left) - 1

    def batch(self, roots):
        arrays = (self.left, self.right, self.kinds, roots)
        return tuple(np.array(array, np.int32) for array in arrays)


def random_trees(num_trees, words, num_kinds, seed):
    """Returns a batch: left, right, kinds, roots."""
    rng = np.random.default_rng(seed)
    nodes = _Builder()

    def add(num_words):
        if num_words == 1:
            return nodes.add()
        first = int(rng.integers(1, num_words))
        left, right = add(first), add(num_words - first)
        return nodes.add(left, right, int(rng.integers(num_kinds)))

    return nodes.batch([add(int(rng.integers(2, words))) for _ in range(num_trees)])


def chains(*kinds_of_chains):
    """Returns a batch of chains: the kinds of their nodes, from the leaf up."""
    nodes = _Builder()
    roots = []
    for kinds in kinds_of_chains:
        top = nodes.add()
        for kind in kinds:
            top = nodes.add(top, NO_CHILD, kind)
        roots.append(top)
    return nodes.batch(roots)


def random_chains(num_chains, length, num_kinds, seed):
    """Returns a batch of chains of nodes of random kinds."""
    rng = np.random.default_rng(seed)
    return chains(
        *(
            rng.integers(num_kinds, size=rng.integers(1, length))
            for _ in range(num_chains)
        )
    )


# Nobody but who has seen both waits for the other one here: 22 launches of cells by
# taking turns, 41 by the least depth.
AABB = chains([0, 0, 1, 1] * 5, [1, 1, 0, 0] * 5)
