"""Works made of a treebank, or of trees that are generated.

    python -m benchmarks.works.making treelstm --to treelstm.npz
    python -m benchmarks.works.making treelstm --data sst --to treelstm.npz

A peer's command takes such a file, and needs no TensorFlow to read it.
"""

import argparse
import pathlib
from types import ModuleType

import numpy as np

import recursive_tf as rtf
from benchmarks.works import treefc, treelstm, treernn
from benchmarks.works.trees import NO_CHILD, Trees
from benchmarks.works.work import Work

WORKS: dict[str, ModuleType] = {
    work.RECURSION.name: work for work in (treelstm, treefc, treernn)
}
# Words and lengths of sentences as of the Stanford Sentiment Treebank.
VOCABULARY = 18_280
LENGTHS = range(2, 37)
TREES = 1024
COMPLETE_TREES = 64


def make(name: str, data: str | None = None) -> Work:
    """Returns a work.

    Args:
        name: Of one of `WORKS`.
        data: A folder with train.txt, bracketed trees with labels. Without it, and for
            complete trees, they are generated.
    """
    if name == treefc.RECURSION.name:
        whole = rtf.data.generate("balanced", COMPLETE_TREES, words=treefc.LEAVES)
        return work_of(name, whole)
    return work_of(name, treebank(data))


def work_of(name: str, forest: rtf.data.Forest) -> Work:
    """Returns a work on trees with children before parents, and words as integers."""
    module = WORKS[name]
    vocabulary = 1 + int(np.max(forest.tokens))
    return Work(module.RECURSION, trees_of(forest), module.weights(vocabulary))


def treebank(data: str | None) -> rtf.data.Forest:
    """Returns the trees of a folder with train.txt, or trees that are generated."""
    if data is None:
        return rtf.data.generate("random", TREES, words=LENGTHS, vocabulary=VOCABULARY)
    read = rtf.data.read_sst(pathlib.Path(data) / "train.txt").load()
    return rtf.data.encode(read, tokens=rtf.data.vocabulary(read))


def trees_of(forest: rtf.data.Forest) -> Trees:
    """Returns the arrays of a forest whose children stand before their parents."""
    left, right, word, label, sizes = (
        np.asarray(array, np.int32)
        for array in (
            forest.left,
            forest.right,
            forest.tokens,
            forest.labels,
            forest.sizes,
        )
    )
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_leaf = left == NO_CHILD
    return Trees(
        left=np.where(is_leaf, NO_CHILD, left - firsts).astype(np.int32),
        right=np.where(is_leaf, NO_CHILD, right - firsts).astype(np.int32),
        word=np.where(is_leaf, word, 0).astype(np.int32),
        label=label,
        sizes=sizes,
    )


def main() -> None:
    """Writes a work into a file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.works.making")
    parser.add_argument("work", choices=WORKS)
    parser.add_argument("--data", help="folder with train.txt; else trees are made")
    parser.add_argument("--to", type=pathlib.Path, required=True)
    asked = parser.parse_args()
    make(asked.work, asked.data).save(asked.to)


if __name__ == "__main__":
    main()
