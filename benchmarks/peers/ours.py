"""recursive_tf: the recursive program as a user writes it.

    python -m benchmarks.peers.ours --model treelstm.npz --batch 25

A batch is cut from a forest of all trees. `RTF_BENCHMARK_OPTIONS`, a JSON object, has
what else the SubGraph takes: {"executor": "dataflow"}, {"share_rows": false}.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.peers import command
from benchmarks.works.trees import NO_CHILD
from benchmarks.works.work import Work
from recursive_tf.data import Forest

Weights = dict[str, tf.Variable]
State = Any

OPTIONS = "RTF_BENCHMARK_OPTIONS"


def dense(x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Returns x times a matrix, and a bias, for one row."""
    return tf.linalg.matvec(kernel, x, transpose_a=True) + bias


class TreeLSTM:
    """benchmarks/works/treelstm.py."""

    def __init__(self, weights: Weights) -> None:
        self._w = weights

    def leaf(self, x: tf.Tensor) -> State:
        """Returns h and c of a leaf."""
        i, o, u = tf.split(dense(x, self._w["leaf_kernel"], self._w["leaf_bias"]), 3)
        return _h_and_c(o, tf.sigmoid(i) * tf.tanh(u))

    def internal(self, left: State, right: State) -> State:
        """Returns h and c of a node with children."""
        h = tf.concat([left[0], right[0]], 0)
        gates = dense(h, self._w["kernel"], self._w["bias"])
        i, f_left, f_right, o, u = tf.split(gates, 5)
        c = tf.sigmoid(i) * tf.tanh(u)
        c += tf.sigmoid(f_left) * left[1] + tf.sigmoid(f_right) * right[1]
        return _h_and_c(o, c)


def _h_and_c(o: tf.Tensor, c: tf.Tensor) -> State:
    return tf.sigmoid(o) * tf.tanh(c), c


class OneLayer:
    """benchmarks/works/treernn.py, and treefc.py, which has another activation."""

    def __init__(
        self, weights: Weights, activation: Callable[[tf.Tensor], tf.Tensor]
    ) -> None:
        self._w = weights
        self._activation = activation

    def leaf(self, x: tf.Tensor) -> State:
        """Returns h of a leaf, in a tuple."""
        return (x,)

    def internal(self, left: State, right: State) -> State:
        """Returns h of a node with children, in a tuple."""
        h = tf.concat([left[0], right[0]], 0)
        return (self._activation(dense(h, self._w["kernel"], self._w["bias"])),)


CELLS: dict[str, Callable[[Weights], Any]] = {
    "treelstm": TreeLSTM,
    "treernn": lambda weights: OneLayer(weights, tf.tanh),
    "treefc": lambda weights: OneLayer(weights, tf.nn.relu),
}


class RecursiveTF:
    """The recursion over forests, and steps around it.

    Args:
        work: What to compute.
        optimizer: "sgd" or "adagrad".
        choices: Of the SubGraph, or of its options.
    """

    def __init__(
        self, work: Work, optimizer: str, choices: dict[str, Any] | None = None
    ) -> None:
        choices = dict(choices or {})
        executor = choices.pop("executor", "auto")
        self._recursion = work.recursion
        self._how = {"executor": executor, "options": rtf.Options(**choices)}
        self._weights = {
            name: tf.Variable(value, name=name) for name, value in work.weights.items()
        }
        self._cell = CELLS[work.name](self._weights)
        self._variables = list(self._weights.values())
        self._optimizer = _optimizer(optimizer)
        self._optimizer.build(self._variables)
        self.forest = _forest_of(work)
        # As Keras's `fit` does.
        steps = {"reduce_retracing": True, "autograph": False}
        self.train_step = tf.function(self._train, **steps)
        self.infer_step = tf.function(self._loss, **steps)
        self.gradient_step = tf.function(self._loss_after_gradients, **steps)
        self._norms_step = tf.function(self._norms, **steps)

    def batch(self, trees: np.ndarray) -> Forest:
        """Returns a batch of some trees."""
        return self.forest[trees]

    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss."""
        return float(self.train_step(self.batch(trees)))

    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        return float(self.infer_step(self.batch(trees)))

    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        loss, norms = self._norms_step(self.batch(trees))
        return float(loss), {name: float(norm) for name, norm in norms.items()}

    def _train(self, forest: Forest) -> tf.Tensor:
        loss, gradients = self._gradients(forest)
        self._optimizer.apply(gradients, self._variables)
        return loss

    def _gradients(self, forest: Forest) -> Any:
        with tf.GradientTape() as tape:
            loss = self._loss(forest)
        return loss, tape.gradient(loss, self._variables)

    def _loss_after_gradients(self, forest: Forest) -> tf.Tensor:
        """Returns the loss when its gradients are there: a step without an update."""
        loss, gradients = self._gradients(forest)
        arrays = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]
        with tf.control_dependencies(arrays):
            return tf.identity(loss)

    def _norms(self, forest: Forest) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        loss, gradients = self._gradients(forest)
        norms = map(tf.norm, map(tf.convert_to_tensor, gradients))
        return loss, dict(zip(self._weights, norms, strict=True))

    def _loss(self, forest: Forest) -> tf.Tensor:
        h, labels = self._states(forest)
        w = self._weights
        logits = tf.matmul(h, w["logits_kernel"]) + w["logits_bias"]
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_sum(losses) / tf.cast(forest.num_trees, tf.float32)

    def _states(self, forest: Forest) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns h of all nodes that have a loss, and their labels."""
        at_nodes = self._recursion.loss_at == "nodes"
        is_leaf = forest.left < 0
        with rtf.SubGraph(self._recursion.name, **self._how) as tree_net:
            node = tree_net.input(tf.int32)

            def leaf() -> State:
                word = tf.gather(forest.tokens, node)
                return self._cell.leaf(tf.gather(self._weights["embedding"], word))

            def internal() -> State:
                left = tree_net(tf.gather(forest.left, node))
                right = tree_net(tf.gather(forest.right, node))
                return self._cell.internal(left, right)

            state = tf.cond(tf.gather(is_leaf, node), leaf, internal)
            if at_nodes:
                tree_net.push("h", state[0], index=node, size=forest.num_nodes)
            tree_net.output(state)
        if at_nodes:
            _, pushed = tree_net.map(forest.roots, with_pushed=True)
            return pushed["h"], forest.labels
        state = tree_net.map(forest.roots)
        return state[0], tf.gather(forest.labels, forest.roots)


def _forest_of(work: Work) -> Forest:
    trees = work.trees
    firsts = np.repeat(trees.starts, trees.sizes).astype(np.int32)
    left, right = (
        np.where(children == NO_CHILD, NO_CHILD, children + firsts)
        for children in (trees.left, trees.right)
    )
    return Forest(
        tokens=trees.word,
        left=left,
        right=right,
        roots=(trees.starts + trees.sizes - 1).astype(np.int32),
        sizes=trees.sizes,
        labels=trees.label,
    )


def _optimizer(name: str) -> keras.optimizers.Optimizer:
    if name == "sgd":
        return keras.optimizers.SGD(command.RATE)
    return rtf.optimizers.SparseAdagrad(
        command.RATE, initial_accumulator_value=command.START, epsilon=command.EPSILON
    )


def make(work: Work, optimizer: str) -> RecursiveTF:
    """Returns the system that the environment asks for."""
    return RecursiveTF(work, optimizer, json.loads(os.environ.get(OPTIONS, "{}")))


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"tensorflow": tf.__version__, "keras": keras.__version__}


if __name__ == "__main__":
    command.main(make, versions)
