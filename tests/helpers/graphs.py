"""Directed graphs without a cycle: nodes that share what they are made of."""

import dataclasses

import numpy as np
import tensorflow as tf

import recursive_tf as rtf


@dataclasses.dataclass
class Graph:
    """Children have smaller numbers than their parents; a leaf has -1."""

    left: np.ndarray
    right: np.ndarray

    @property
    def size(self):
        """The number of nodes."""
        return len(self.left)

    def evaluate(self, leaf, inner):
        """Returns the values of all nodes, each computed once."""
        values = []
        for node, (left, right) in enumerate(zip(self.left, self.right, strict=True)):
            is_leaf = left < 0
            values.append(leaf(node) if is_leaf else inner(values[left], values[right]))
        return values


def random_graph(seed, size=30, leaves=4):
    """Returns a graph of which the last node reaches most of the others."""
    random = np.random.default_rng(seed)
    left = np.full(size, -1, np.int32)
    right = np.full(size, -1, np.int32)
    for node in range(leaves, size):
        left[node] = random.integers(max(node - 4, 0), node)
        right[node] = random.integers(0, node)
    return Graph(left, right)


def lattice(side):
    """Returns a square: a node is made of that to its left and that above it."""
    nodes = np.arange(side * side, dtype=np.int32)
    edge = (nodes < side) | (nodes % side == 0)
    left = np.where(edge, -1, nodes - 1).astype(np.int32)
    return Graph(left, np.where(edge, -1, nodes - side).astype(np.int32))


def define_evaluation(graph, leaf, inner, push=False, **choices):
    """Returns a memoized SubGraph from a node of a graph to its value.

    With `push` each invocation pushes its value: the root call fails if a node is
    evaluated twice.
    """
    with rtf.SubGraph("value", memo=lambda node: node, **choices) as value:
        node = value.input(tf.int32)
        left, right = tf.gather(graph.left, node), tf.gather(graph.right, node)
        y = tf.cond(
            left < 0, lambda: leaf(node), lambda: inner(value(left), value(right))
        )
        if push:
            value.push("value", y, index=node, size=graph.size)
        value.output(y)
    return value
