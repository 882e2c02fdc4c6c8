"""DyNet with autobatching: one graph of all nodes of a batch, which DyNet batches.

    python -m benchmarks.peers.dynet_autobatch --model treelstm.npz --batch 25

Neubig et al. On-the-fly Operation Batching in Dynamic Computation Graphs. NeurIPS 2017.
DyNet computes on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import command
from benchmarks.peers.autobatching import dy
from benchmarks.works.trees import NO_CHILD, Batch
from benchmarks.works.work import Work

Parameters = dict[str, Any]
State = tuple[dy.Expression, ...]


class TreeLSTM:
    """benchmarks/works/treelstm.py."""

    has_kernel_by_child = False

    def __init__(self, parameters: Parameters, hidden: int) -> None:
        self._p = parameters
        self._hidden = hidden

    def leaves(self, x: dy.Expression) -> State:
        """Returns h and c of all leaves."""
        (i, o), u = self._gates("leaf_bias", "leaf_kernel", x, 2)
        return _h_and_c(o, dy.cmult(i, u))

    def internal(self, left: State, right: State) -> State:
        """Returns h and c of a node with children."""
        h = dy.concatenate([left[0], right[0]])
        (i, f_left, f_right, o), u = self._gates("bias", "kernel", h, 4)
        c = dy.esum(
            [dy.cmult(i, u), dy.cmult(f_left, left[1]), dy.cmult(f_right, right[1])]
        )
        return _h_and_c(o, c)

    def _gates(
        self, bias: str, kernel: str, x: dy.Expression, count: int
    ) -> tuple[list[dy.Expression], dy.Expression]:
        """Returns some gates, with their activation, and u with its."""
        gates = dy.affine_transform([self._p[bias], self._p[kernel], x])
        size = self._hidden
        s = dy.logistic(dy.pick_range(gates, 0, count * size))
        u = dy.tanh(dy.pick_range(gates, count * size, (count + 1) * size))
        return [dy.pick_range(s, k * size, (k + 1) * size) for k in range(count)], u


def _h_and_c(o: dy.Expression, c: dy.Expression) -> State:
    return dy.cmult(o, dy.tanh(c)), c


class OneLayer:
    """One product at each node with children.

    A kernel for each child takes less time than to concatenate the children.
    """

    has_kernel_by_child = True
    activation: Callable[[Any], dy.Expression]

    def __init__(self, parameters: Parameters, hidden: int) -> None:
        del hidden
        self._p = parameters

    def leaves(self, x: dy.Expression) -> State:
        """Returns h of all leaves, in a tuple."""
        return (x,)

    def internal(self, left: State, right: State) -> State:
        """Returns h of a node with children, in a tuple."""
        p = self._p
        product = dy.affine_transform(
            [p["bias"], p["kernel_left"], left[0], p["kernel_right"], right[0]]
        )
        return (self.activation(product),)


class TreeRNN(OneLayer):
    """benchmarks/works/treernn.py."""

    activation = staticmethod(dy.tanh)


class TreeFC(OneLayer):
    """benchmarks/works/treefc.py."""

    activation = staticmethod(dy.rectify)


CELLS: dict[str, Any] = {"treelstm": TreeLSTM, "treernn": TreeRNN, "treefc": TreeFC}


class Autobatch:
    """The graph of a batch, and steps around it.

    Args:
        work: What to compute.
        optimizer: "sgd" or "adagrad".
    """

    def __init__(self, work: Work, optimizer: str) -> None:
        self._trees = work.trees
        self._at_nodes = work.recursion.loss_at == "nodes"
        self._collection = dy.ParameterCollection()
        cell = CELLS[work.name]
        weights = _by_child(work.weights) if cell.has_kernel_by_child else work.weights
        self._parameters: Parameters = {
            name: self._parameter(name, value) for name, value in weights.items()
        }
        self._cell = cell(self._parameters, work.recursion.hidden)
        self._trainer = _trainer(optimizer, self._collection)

    def _parameter(self, name: str, value: np.ndarray) -> Any:
        if name == "embedding":
            return self._collection.lookup_parameters_from_numpy(value)
        # Vectors are columns in DyNet.
        return self._collection.parameters_from_numpy(np.ascontiguousarray(value.T))

    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss."""
        loss = self._loss(trees)
        value = loss.value()
        loss.backward()
        self._trainer.update()
        return float(value)

    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._loss(trees).value())

    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        loss = self._loss(trees)
        value = loss.value()
        loss.backward()
        norms = {
            name: float(np.linalg.norm(parameter.grad_as_array().astype(float)))
            for name, parameter in self._parameters.items()
        }
        if self._cell.has_kernel_by_child:
            sides = norms.pop("kernel_left"), norms.pop("kernel_right")
            norms["kernel"] = float(np.hypot(*sides))
        # An update forgets the gradients, and of rate 0 it does nothing else.
        rate, self._trainer.learning_rate = self._trainer.learning_rate, 0.0
        self._trainer.update()
        self._trainer.learning_rate = rate
        return float(value), norms

    def _loss(self, trees: np.ndarray) -> dy.Expression:
        dy.renew_cg()
        batch = self._trees.batch(trees)
        states = self._states(batch)
        nodes = range(len(states)) if self._at_nodes else batch.roots.tolist()
        labels = batch.label if self._at_nodes else batch.label[batch.roots]
        h = dy.concatenate_to_batch([states[node][0] for node in nodes])
        kernel, bias = (
            self._parameters["logits_kernel"],
            self._parameters["logits_bias"],
        )
        logits = dy.affine_transform([bias, kernel, h])
        losses = dy.pickneglogsoftmax_batch(logits, labels.tolist())
        return dy.sum_batches(losses) * (1 / len(trees))

    def _states(self, batch: Batch) -> list[State]:
        """Returns the state of each node; all leaves are one expression."""
        words = batch.word[batch.left == NO_CHILD].tolist()
        leaves = self._cell.leaves(
            dy.lookup_batch(self._parameters["embedding"], words)
        )
        states: list[State] = []
        internal, pick, next_leaf = self._cell.internal, dy.pick_batch_elem, 0
        for left, right in zip(batch.left.tolist(), batch.right.tolist(), strict=True):
            if left == NO_CHILD:
                states.append(tuple([pick(part, next_leaf) for part in leaves]))
                next_leaf += 1
            else:
                states.append(internal(states[left], states[right]))
        return states


def _by_child(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns a kernel for each child, so that nothing has to be concatenated."""
    left, right = np.split(weights["kernel"], 2)
    others = {name: value for name, value in weights.items() if name != "kernel"}
    return others | {"kernel_left": left, "kernel_right": right}


def _trainer(name: str, collection: dy.ParameterCollection) -> dy.Trainer:
    if name == "sgd":
        trainer = dy.SimpleSGDTrainer(collection, command.RATE)
    else:
        # DyNet's sums begin with 0, and it divides by sqrt(sum + eps): so eps is what
        # others begin with. Their EPSILON is too small to be seen beside its root.
        trainer = dy.AdagradTrainer(collection, command.RATE, command.START)
    trainer.set_clip_threshold(-1)
    return trainer


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"dynet": "2.1.2"}


if __name__ == "__main__":
    command.main(Autobatch, versions)
