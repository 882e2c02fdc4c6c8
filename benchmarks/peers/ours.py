"""recursive_tf: the recursive program as a user writes it.

    python -m benchmarks.peers.ours --model treelstm.npz --batch 25

A batch goes in as one array, as in the program by hand in TensorFlow.
`RTF_BENCHMARK_OPTIONS`, a JSON object, has what else the SubGraph takes: {"executor":
"dataflow"}, {"share_rows": false}.
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
from benchmarks.peers.one_argument import Parts, pack, traced
from benchmarks.works.work import Work

Weights = dict[str, tf.Variable]
State = Any

# Of a batch: left, right, word and label of all nodes, and the roots.
PARTS = 5
OPTIONS = "RTF_BENCHMARK_OPTIONS"


def dense(x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Returns x times a matrix, and a bias, for one row."""
    return tf.linalg.matvec(kernel, x, transpose_a=True) + bias


class TreeLSTM:
    """benchmarks/works/treelstm.py."""

    num_states = 2

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

    num_states = 1

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
    """The recursion, and steps around it.

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
        self._update = _update_of(optimizer, self._variables)
        self._trees = work.trees
        self.train_step = traced(self._train, PARTS)
        self.infer_step = traced(self._loss, PARTS)
        self.gradient_step = traced(self._loss_after_gradients, PARTS)
        self._norms_step = traced(self._norms, PARTS)

    def batch(self, trees: np.ndarray) -> tf.Tensor:
        """Returns the parts of some trees, packed."""
        batch = self._trees.batch(trees)
        parts = (batch.left, batch.right, batch.word, batch.label, batch.roots)
        return tf.constant(pack(parts))

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

    def _train(self, trees: Parts) -> tf.Tensor:
        loss, gradients = self._gradients(trees)
        self._update(gradients, self._variables)
        return loss

    def _gradients(self, trees: Parts) -> Any:
        with tf.GradientTape() as tape:
            loss = self._loss(trees)
        return loss, tape.gradient(loss, self._variables)

    def _loss_after_gradients(self, trees: Parts) -> tf.Tensor:
        """Returns the loss when its gradients are there: a step without an update."""
        loss, gradients = self._gradients(trees)
        arrays = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]
        with tf.control_dependencies(arrays):
            return tf.identity(loss)

    def _norms(self, trees: Parts) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        loss, gradients = self._gradients(trees)
        norms = map(tf.norm, map(tf.convert_to_tensor, gradients))
        return loss, dict(zip(self._weights, norms, strict=True))

    def _loss(self, trees: Parts) -> tf.Tensor:
        logits, labels = self._logits(trees)
        roots = trees[-1]
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_sum(losses) / tf.cast(tf.size(roots), tf.float32)

    def _logits(self, trees: Parts) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the logits of all nodes that have a loss, and their labels."""
        at_nodes = self._recursion.loss_at == "nodes"
        lefts, rights, words, labels, roots = trees
        is_leaf = lefts < 0
        h = tf.TensorSpec([self._recursion.hidden], tf.float32)
        state_of_node = (h,) * self._cell.num_states
        with rtf.SubGraph(
            self._recursion.name, output_signature=state_of_node, **self._how
        ) as tree_net:
            node = tree_net.input(tf.int32)

            def with_logits(state: State) -> tuple[State, tf.Tensor | None]:
                if not at_nodes:
                    return state, None
                w = self._weights
                return state, dense(state[0], w["logits_kernel"], w["logits_bias"])

            def leaf() -> Any:
                word = tf.gather(words, node)
                x = tf.gather(self._weights["embedding"], word)
                return with_logits(self._cell.leaf(x))

            def internal() -> Any:
                left = tree_net(tf.gather(lefts, node))
                right = tree_net(tf.gather(rights, node))
                return with_logits(self._cell.internal(left, right))

            state, logits = tf.cond(tf.gather(is_leaf, node), leaf, internal)
            if at_nodes:
                tree_net.push("logits", logits, index=node, size=tf.size(words))
            tree_net.output(state)
        if at_nodes:
            _, pushed = tree_net.map(roots, with_pushed=True)
            return pushed["logits"], labels
        h_of_roots = tree_net.map(roots)[0]
        w = self._weights
        logits = tf.matmul(h_of_roots, w["logits_kernel"]) + w["logits_bias"]
        return logits, tf.gather(labels, roots)


def _update_of(optimizer: str, variables: list[tf.Variable]) -> Callable[..., None]:
    """Returns what takes gradients and variables."""
    if optimizer == "sgd":
        return _descend
    adagrad = rtf.optimizers.SparseAdagrad(
        command.RATE, initial_accumulator_value=command.START, epsilon=command.EPSILON
    )
    adagrad.build(variables)
    return adagrad.apply


def _descend(gradients: list[Any], variables: list[tf.Variable]) -> None:
    """Plain SGD; Keras's multiplies gradients in an op before that of the update."""
    rate = tf.constant(command.RATE)
    for gradient, variable in zip(gradients, variables, strict=True):
        if isinstance(gradient, tf.IndexedSlices):
            rows = tf.IndexedSlices(rate * gradient.values, gradient.indices)
            variable.scatter_sub(rows)
        else:
            tf.raw_ops.ResourceApplyGradientDescent(
                var=variable.handle, alpha=rate, delta=gradient
            )


def make(work: Work, optimizer: str) -> RecursiveTF:
    """Returns the system that the environment asks for."""
    return RecursiveTF(work, optimizer, json.loads(os.environ.get(OPTIONS, "{}")))


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"tensorflow": tf.__version__, "keras": keras.__version__}


if __name__ == "__main__":
    command.main(make, versions)
