"""Works of ED-Batch's workloads, of real data or generated."""

from __future__ import annotations

import pathlib

import numpy as np

from benchmarks.ed_batch import lattices, sentences
from benchmarks.works import (
    bilstm_char_tagger,
    bilstm_tagger,
    lattice_gru,
    lattice_lstm,
    lstm_nmt,
    making,
    mv_rnn,
    tree_gru,
    tree_lstm_two_kinds,
)
from benchmarks.works.lattices import Lattices
from benchmarks.works.rows import starts
from benchmarks.works.texts import Texts
from benchmarks.works.trees import Trees
from benchmarks.works.work import Work

WORKS = {
    module.RECURSION.name: module
    for module in (
        bilstm_tagger,
        bilstm_char_tagger,
        lstm_nmt,
        tree_gru,
        mv_rnn,
        tree_lstm_two_kinds,
        lattice_lstm,
        lattice_gru,
    )
}
SENTENCES = 1024


def make(name: str, data: str | None, units: int, count: int | None = None) -> Work:
    """Returns a work.

    Args:
        name: Of one of `WORKS`.
        data: A folder with wikiner/, sst/ and lattice/, or None to generate inputs.
        units: Of every cell; the MV-RNN may have fewer.
        count: How many sentences, trees or lattices it has; without it, `SENTENCES`.
    """
    module = WORKS[name]
    read = _READERS[module.RECURSION.inputs]
    folder = pathlib.Path(data) if data else None
    inputs = read(folder, count or SENTENCES)
    return Work(module.RECURSION, inputs, module.weights(units))


def _texts(folder: pathlib.Path | None, count: int) -> Texts:
    return sentences.read(folder, count)


def _trees(folder: pathlib.Path | None, count: int) -> Trees:
    forest = making.treebank(str(folder / "sst") if folder else None)
    return making.trees_of(forest[:count])


def _lattices(folder: pathlib.Path | None, count: int) -> Lattices:
    forest = lattices.read(folder, count)
    sizes, tokens, is_word, counts, children = (
        np.asarray(array, np.int32)
        for array in (
            forest.sizes,
            forest.tokens,
            forest.features["is_word"],
            forest.children.row_lengths(),
            forest.children.values,
        )
    )
    first = np.repeat(np.repeat(starts(sizes), sizes), counts)
    within = (children - first).astype(np.int32)
    return Lattices(tokens, is_word, within, counts, sizes)


_READERS = {Texts: _texts, Trees: _trees, Lattices: _lattices}
