"""recursive_tf: the models of `benchmarks.ed_batch`, as they are.

    python -m benchmarks.ed_batch.peers.ours --model tagger.npz --batch 32

The recursive programs know nothing of batching.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch import lattice_gru, lattice_lstm, mv_rnn, sentences, tree_gru
from benchmarks.ed_batch.bilstm_char_tagger import BiLSTMCharTagger
from benchmarks.ed_batch.bilstm_tagger import BiLSTMTagger
from benchmarks.ed_batch.lstm_nmt import Translator
from benchmarks.ed_batch.peers.keras_steps import Steps
from benchmarks.ed_batch.tree_lstm_two_kinds import TreeLSTMTwoKinds
from benchmarks.peers import command
from benchmarks.works import lattices, trees
from benchmarks.works.work import Work


class Model(NamedTuple):
    """A model, and what its one argument is.

    Attributes:
        make: Makes it, of a number of units.
        input_of: Makes the argument, of a batch.
        with_units: The name of weights that have a column for each unit.
    """

    make: Callable[..., Any]
    input_of: Callable[[Any], Any]
    with_units: str = "embedding"


def forest_of(batch: trees.Batch, labels: np.ndarray | None = None) -> rtf.data.Forest:
    """Returns trees as the layers take them."""
    return rtf.data.Forest(
        tokens=batch.word,
        left=batch.left,
        right=batch.right,
        roots=batch.roots,
        sizes=np.diff(batch.roots, prepend=-1).astype(np.int32),
        labels=labels,
    )


def labeled_forest_of(batch: trees.Batch) -> rtf.data.Forest:
    """Returns trees with the labels of their nodes."""
    return forest_of(batch, batch.label)


def lattices_of(batch: lattices.Batch) -> rtf.data.Forest:
    """Returns lattices as the layers take them."""
    splits = np.append(0, np.cumsum(batch.counts)).astype(np.int32)
    return rtf.data.Forest(
        tokens=batch.tokens,
        children=tf.RaggedTensor.from_row_splits(
            batch.children, splits, validate=False
        ),
        roots=batch.roots,
        sizes=batch.sizes,
        features={"is_word": batch.is_word},
    )


MODELS = {
    "bilstm_tagger": Model(BiLSTMTagger, sentences.words_of),
    "bilstm_char_tagger": Model(BiLSTMCharTagger, sentences.characters_of),
    "lstm_nmt": Model(Translator, sentences.words_of),
    "tree_gru": Model(tree_gru.model, forest_of),
    "mv_rnn": Model(mv_rnn.model, forest_of, "vector_bias"),
    "tree_lstm_two_kinds": Model(TreeLSTMTwoKinds, labeled_forest_of),
    "lattice_lstm": Model(lattice_lstm.model, lattices_of),
    "lattice_gru": Model(lattice_gru.model, lattices_of),
}


def make(work: Work, optimizer: str) -> Steps:
    """Returns the system."""
    del optimizer  # Nothing is updated.
    model = MODELS[work.name]
    units = work.weights[model.with_units].shape[-1]
    return Steps(work, model.make(units), lambda batch: [model.input_of(batch)])


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"tensorflow": tf.__version__, "keras": keras.__version__}


if __name__ == "__main__":
    command.main(make, versions)
