"""DGL: the trees of a batch are one graph, whose nodes are computed level by level.

    python -m benchmarks.peers.dgl_batched --model treelstm.npz --batch 25

Wang et al. Deep Graph Library. 2019. As in DGL's own TreeLSTM: messages go along the
edges from children to parents, in topological order, with PyTorch's autograd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dgl
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.peers import command
from benchmarks.peers.torch_eager import Eager
from benchmarks.works.trees import NO_CHILD, Batch
from benchmarks.works.work import Work

Weights = dict[str, Tensor]
Data = dict[str, Tensor]

THREADS = 2


class TreeLSTM:
    """benchmarks/works/treelstm.py; a node has h, c, and the gates i, o and u."""

    def __init__(self, weights: Weights) -> None:
        self._w = weights
        self._hidden = len(weights["leaf_bias"]) // 3

    def begin(self, x: Tensor, leaves: Tensor, num_nodes: int) -> Data:
        """Returns what nodes have at first: leaves their gates, others nothing."""
        gates = torch.addmm(self._w["leaf_bias"], x, self._w["leaf_kernel"])
        nothing = x.new_zeros(num_nodes, self._hidden)
        all_gates = x.new_zeros(num_nodes, 3 * self._hidden)
        return {
            "gates": all_gates.index_copy(0, leaves, gates),
            "h": nothing,
            "c": nothing,
        }

    def message(self, edges: Any) -> Data:
        """Returns what a child sends."""
        return {"h": edges.src["h"], "c": edges.src["c"]}

    def reduce(self, nodes: Any) -> Data:
        """Returns gates, and the part of c that is from the children."""
        h = nodes.mailbox["h"].flatten(1)
        gates = torch.addmm(self._w["bias"], h, self._w["kernel"])
        i, f, o, u = gates.split(
            [self._hidden, 2 * self._hidden, self._hidden, self._hidden], 1
        )
        f = torch.sigmoid(f).view(nodes.mailbox["c"].shape)
        c = (f * nodes.mailbox["c"]).sum(1)
        return {"gates": torch.cat([i, o, u], 1), "c": c}

    def apply(self, nodes: Any) -> Data:
        """Returns h and c."""
        i, o, u = nodes.data["gates"].chunk(3, 1)
        c = torch.addcmul(nodes.data["c"], torch.sigmoid(i), torch.tanh(u))
        return {"h": torch.sigmoid(o) * torch.tanh(c), "c": c}


class OneLayer:
    """benchmarks/works/treernn.py, and treefc.py, which has another activation."""

    apply = None

    def __init__(
        self, weights: Weights, activation: Callable[[Tensor], Tensor]
    ) -> None:
        self._w = weights
        self._activation = activation

    def begin(self, x: Tensor, leaves: Tensor, num_nodes: int) -> Data:
        """Returns h of leaves; others have nothing at first."""
        nothing = x.new_zeros(num_nodes, x.shape[1])
        return {"h": nothing.index_copy(0, leaves, x)}

    def message(self, edges: Any) -> Data:
        """Returns what a child sends."""
        return {"h": edges.src["h"]}

    def reduce(self, nodes: Any) -> Data:
        """Returns h."""
        h = nodes.mailbox["h"].flatten(1)
        return {
            "h": self._activation(torch.addmm(self._w["bias"], h, self._w["kernel"]))
        }


CELLS: dict[str, Callable[[Weights], Any]] = {
    "treelstm": TreeLSTM,
    "treernn": lambda weights: OneLayer(weights, torch.tanh),
    "treefc": lambda weights: OneLayer(weights, torch.relu),
}


class Batched(Eager):
    """The graph of a batch; steps around it are those of PyTorch tree by tree."""

    cells = CELLS

    @torch.no_grad()
    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._loss(trees))

    def _loss(self, trees: np.ndarray) -> Tensor:
        batch = self._trees.batch(trees)
        h = self._states(batch)
        labels = torch.from_numpy(batch.label.astype(np.int64))
        if not self._at_nodes:
            roots = torch.from_numpy(batch.roots.astype(np.int64))
            h, labels = h[roots], labels[roots]
        kernel, bias = self._weights["logits_kernel"], self._weights["logits_bias"]
        logits = torch.addmm(bias, h, kernel)
        loss = functional.cross_entropy(logits, labels, reduction="sum")
        return loss / len(trees)

    def _states(self, batch: Batch) -> Tensor:
        """Returns h of all nodes."""
        graph = _graph(batch)
        leaves = np.flatnonzero(batch.left == NO_CHILD)
        words = torch.from_numpy(batch.word[leaves])
        x = functional.embedding(words, self._weights["embedding"], sparse=True)
        begin = self._cell.begin(x, torch.from_numpy(leaves), len(batch.left))
        graph.ndata.update(begin)
        dgl.prop_nodes_topo(
            graph,
            self._cell.message,
            self._cell.reduce,
            apply_node_func=self._cell.apply,
        )
        return graph.ndata["h"]


def _graph(batch: Batch) -> dgl.DGLGraph:
    """Returns edges from children to parents; the left one comes first."""
    parents = np.flatnonzero(batch.left != NO_CHILD).astype(np.int32)
    children = np.concatenate([batch.left[parents], batch.right[parents]])
    edges = (torch.from_numpy(children), torch.from_numpy(np.tile(parents, 2)))
    return dgl.graph(edges, num_nodes=len(batch.left))


def make(work: Work, optimizer: str) -> Batched:
    """Returns the system."""
    torch.set_num_threads(THREADS)
    return Batched(work, optimizer)


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"dgl": dgl.__version__, "torch": torch.__version__}


if __name__ == "__main__":
    command.main(make, versions)
