"""Small works of random trees, made with NumPy alone."""

import numpy as np

from benchmarks.works import treefc, treelstm, treernn
from benchmarks.works.trees import NO_CHILD, Trees
from benchmarks.works.work import CLASSES, Work

WORKS = {work.RECURSION.name: work for work in (treelstm, treernn, treefc)}
VOCABULARY = 40


def random_trees(count: int, most_words: int, seed: int = 0) -> Trees:
    """Returns trees of 1 to `most_words` words, each with every label."""
    rng = np.random.default_rng(seed)
    left: list[int] = []
    right: list[int] = []
    sizes = []

    def add(words: int, start: int) -> int:
        children = (NO_CHILD, NO_CHILD)
        if words > 1:
            of_left = int(rng.integers(1, words))
            children = (add(of_left, start), add(words - of_left, start))
        left.append(children[0])
        right.append(children[1])
        return len(left) - 1 - start

    for words in rng.integers(1, most_words + 1, count):
        start = len(left)
        add(int(words), start)
        sizes.append(len(left) - start)
    is_leaf = np.array(left) == NO_CHILD
    words = rng.integers(0, VOCABULARY, len(left))
    return Trees(
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        word=np.where(is_leaf, words, 0).astype(np.int32),
        label=rng.integers(0, CLASSES, len(left)).astype(np.int32),
        sizes=np.array(sizes, np.int32),
    )


def small_work(name: str) -> Work:
    """Returns the work of this name over few trees and words."""
    module = WORKS[name]
    return Work(module.RECURSION, random_trees(12, 9), module.weights(VOCABULARY))
