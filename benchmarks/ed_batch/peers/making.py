"""Works of ED-Batch's workloads, of real data or generated."""

from __future__ import annotations

import pathlib

from benchmarks.ed_batch import sentences
from benchmarks.works import (
    bilstm_char_tagger,
    bilstm_tagger,
    lstm_nmt,
    making,
    tree_gru,
)
from benchmarks.works.texts import Texts
from benchmarks.works.trees import Trees
from benchmarks.works.work import Work

WORKS = {
    module.RECURSION.name: module
    for module in (bilstm_tagger, bilstm_char_tagger, lstm_nmt, tree_gru)
}
SENTENCES = 1024


def make(name: str, data: str | None, units: int, count: int | None = None) -> Work:
    """Returns a work.

    Args:
        name: Of one of `WORKS`.
        data: A folder with wikiner/ and sst/; without it, inputs are generated.
        units: Of every cell.
        count: How many sentences or trees it has; `SENTENCES` if there is none.
    """
    module = WORKS[name]
    read = {Texts: _texts, Trees: _trees}[module.RECURSION.inputs]
    folder = pathlib.Path(data) if data else None
    inputs = read(folder, count or SENTENCES)
    return Work(module.RECURSION, inputs, module.weights(units))


def _texts(folder: pathlib.Path | None, count: int) -> Texts:
    return sentences.read(folder, count)


def _trees(folder: pathlib.Path | None, count: int) -> Trees:
    forest = making.treebank(str(folder / "sst") if folder else None)
    return making.trees_of(forest[:count])
