"""DyNet with autobatching: sentence by sentence or node by node, which DyNet batches.

    python -m benchmarks.ed_batch.peers.dynet_autobatch --model tagger.npz --batch 32

DyNet computes on one thread. Gradients are added up and never applied, which nothing
depends on; so no time is spent on setting them to zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.ed_batch.peers import dynet_lattices, dynet_sentences, dynet_trees
from benchmarks.ed_batch.peers.dynet_layers import Layers
from benchmarks.peers import command
from benchmarks.peers.autobatching import dy
from benchmarks.works.work import Work

MODELS: dict[str, Any] = {
    "bilstm_tagger": dynet_sentences.Tagger,
    "bilstm_char_tagger": dynet_sentences.CharTagger,
    "lstm_nmt": dynet_sentences.Translator,
    "tree_gru": dynet_trees.TreeGRU,
    "mv_rnn": dynet_trees.MVRNN,
    "tree_lstm_two_kinds": dynet_trees.TwoKinds,
    "lattice_lstm": dynet_lattices.LatticeLSTM,
    "lattice_gru": dynet_lattices.LatticeGRU,
}


class Autobatch:
    """The graph of a batch.

    Args:
        work: What to compute.
        optimizer: None: nothing is updated.
    """

    def __init__(self, work: Work, optimizer: str) -> None:
        del optimizer
        self._inputs = work.trees
        self._layers = Layers(work)
        self._model = MODELS[work.name](self._layers)
        # An update forgets the gradients, and of rate 0 it does nothing else.
        self._forgetting = dy.SimpleSGDTrainer(self._layers.collection, 0.0)
        self._forgetting.set_clip_threshold(-1)

    def train(self, sentences: np.ndarray) -> float:
        """Computes gradients; returns the loss."""
        loss = self._loss(sentences)
        value = loss.value()
        loss.backward()
        return float(value)

    def infer(self, sentences: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._loss(sentences).value())

    def gradients(self, sentences: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        self._forgetting.update()
        loss = self.train(sentences)
        return loss, self._layers.norms()

    def _loss(self, sentences: np.ndarray) -> dy.Expression:
        dy.renew_cg()
        outputs = self._model.outputs(self._inputs.batch(sentences))
        return dy.sum_batches(dy.squared_norm(outputs))


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"dynet": "2.1.2"}


if __name__ == "__main__":
    command.main(Autobatch, versions)
