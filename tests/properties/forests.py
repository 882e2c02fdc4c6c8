"""Random forests, and the numbers that a program finds in them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.properties.syntax import (
    CHILDREN,
    COUNTS,
    INTEGERS,
    WORDS,
    Program,
    Type,
)

Array = np.ndarray[Any, Any]
Tree = tuple[Any, ...]  # Of the children, which are trees.

MAX_NODES, MAX_DEPTH, MAX_TREES = 10, 7, 3
# Of a large forest: its trees, the leaves of its one tree, or how deep that is.
MANY, CHAIN = 270, 250
NUM_WORDS = 5


@dataclasses.dataclass(frozen=True)
class Forest:
    """Trees, of which a call takes the first, and a map all.

    Attributes:
        trees: Each a tuple of its children.
        arity: The most children that a node may have.
        order: A seed for the numbers of the nodes; 0 is from the root down.
        seed: A seed for what the nodes, and the arguments of the root call, hold.
    """

    trees: tuple[Tree, ...]
    arity: int
    order: int
    seed: int

    def __post_init__(self) -> None:
        nodes = [node for tree in self.trees for node in _nodes(tree)]
        numbers = np.arange(len(nodes))
        if self.order:
            numbers = np.random.default_rng(self.order).permutation(numbers)
        # By identity of a list entry: equal subtrees are one tuple, but many nodes.
        children = np.full([len(nodes), self.arity], -1, np.int64)
        counts = np.zeros([len(nodes)], np.int64)
        roots, following = [], iter(numbers)
        for tree in self.trees:
            roots.append(_number(tree, following, children, counts))
        object.__setattr__(self, "children", children)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "roots", np.array(roots, np.int64))

    children: Array = dataclasses.field(init=False, repr=False, compare=False)
    counts: Array = dataclasses.field(init=False, repr=False, compare=False)
    roots: Array = dataclasses.field(init=False, repr=False, compare=False)

    @property
    def words(self) -> Array:
        """A word for each node."""
        return np.random.default_rng(self.seed).integers(
            NUM_WORDS, size=len(self.counts)
        )

    def features(self, program: Program) -> dict[str, Array]:
        """Returns a vector for each node."""
        rng = np.random.default_rng([self.seed, 1])
        var = program.features
        return {var.name: numbers_of(rng, var.type, [len(self.counts), program.width])}

    def arguments(self, program: Program) -> dict[str, Array]:
        """Returns what the root call gets after the node, a row for each tree."""
        rng = np.random.default_rng([self.seed, 2])
        length = int(rng.integers(3))
        return {
            x.name: numbers_of(
                rng,
                x.type,
                [len(self.roots), *(length if n is None else n for n in x.type.shape)],
            )
            for x in program.arguments
        }

    def data(self, program: Program) -> dict[str, Array]:
        """Returns what a run of a program takes, by name."""
        arguments = self.arguments(program)
        roots = self.roots
        if not program.is_mapped:
            arguments = {n: np.asarray(rows[0]) for n, rows in arguments.items()}
            roots = np.asarray(roots[0])
        return {
            CHILDREN.name: self.children,
            COUNTS.name: self.counts,
            WORDS.name: self.words,
            **self.features(program),
            "root": roots,
            **arguments,
        }

    def draws(self, program: Program) -> dict[str, Array]:
        """Returns numbers that could be drawn at each node, by table."""
        rng = np.random.default_rng([self.seed, 3])
        kinds = dict(program.tables)
        return {
            table: rng.uniform(-1, 1, [len(self.counts), *map(int, kinds[table].shape)])
            for table in program.drawn
        }

    def with_other_numbers(self) -> Forest:
        """Returns the same trees with other numbers."""
        return dataclasses.replace(self, seed=self.seed + 1000)

    def smaller(self) -> Forest | None:
        """Returns a forest with fewer nodes, or None if there is none."""
        if len(self.trees) > 1:
            count = min(len(self.trees) - 1, max(MAX_TREES, len(self.trees) // 2))
            return dataclasses.replace(self, trees=self.trees[:count])
        if not self.trees or not self.trees[0]:
            return None
        (tree,) = self.trees
        steps = 1 if len(self.counts) < CHAIN // 4 else CHAIN // 10
        while steps and tree:
            steps, tree = steps - 1, tree[-1]
        return dataclasses.replace(self, trees=(tree,))


def _nodes(tree: Tree) -> Iterator[Tree]:
    yield tree
    for child in tree:
        yield from _nodes(child)


def _number(tree: Tree, numbers: Any, children: Array, counts: Array) -> int:
    node = int(next(numbers))
    counts[node] = len(tree)
    for i, child in enumerate(tree):
        children[node, i] = _number(child, numbers, children, counts)
    return node


def numbers_of(rng: np.random.Generator, kind: Type, shape: Sequence[int]) -> Array:
    """Returns random numbers of few digits, which are exact in every dtype."""
    if kind.is_complex:
        return np.asarray(_floats(rng, shape) + 1j * _floats(rng, shape))
    if kind.is_differentiable:
        return _floats(rng, shape)
    if kind.dtype in INTEGERS:
        return rng.integers(4, size=shape)
    return rng.integers(2, size=shape).astype(bool)


def _floats(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    return np.round(rng.uniform(-38, 38, shape)) / 64


def capture_values(program: Program) -> dict[str, Array]:
    """Returns the values of a program's captures, by name."""
    rng = np.random.default_rng(program.seed)
    return {
        c.var.name: numbers_of(rng, c.var.type, [int(n or 0) for n in c.var.type.shape])
        for c in program.captures
    }


# --- Drawing


def _grow(arity: int, is_full: bool, choices: Sequence[int]) -> Tree:
    """Returns a tree whose i-th node after the root hangs where a choice says.

    In a full tree, a node has all children or none.
    """
    tree: list[Any] = []
    depths = [(tree, 1)]
    for choice in choices:
        free = [(t, d) for t, d in depths if len(t) < arity and d < MAX_DEPTH]
        if not free or len(depths) > MAX_NODES:
            break
        parent, depth = free[choice % len(free)]
        for _ in range(arity if is_full else 1):
            parent.append([])
            depths.append((parent[-1], depth + 1))
    return _frozen(tree)


def _frozen(tree: list[Any]) -> Tree:
    return tuple(_frozen(child) for child in tree)


# What a node hangs on, of those with room: the first makes balanced trees, the last
# chains.
_PLACES = st.one_of(
    st.lists(st.just(0), max_size=MAX_NODES),
    st.lists(st.just(-1), max_size=MAX_DEPTH),
    st.lists(st.integers(0, MAX_NODES), max_size=MAX_NODES),
)


@st.composite
def forests(draw: Any, program: Program) -> Forest:
    """Draws a forest for a program."""
    fewest = 0 if program.is_mapped else 1
    most = MAX_TREES if program.is_mapped else 2
    count = draw(st.integers(fewest, most))
    arity = program.arity
    trees = tuple(_grow(arity, program.is_full, draw(_PLACES)) for _ in range(count))
    seeds = st.integers(0, 999)
    return Forest(trees, arity, draw(seeds), draw(seeds))


@st.composite
def large_forests(draw: Any, program: Program) -> Forest:
    """Draws a forest with more rows than a launch mostly has, or a deep one."""
    arity, is_full = program.arity, program.is_full
    trees: tuple[Tree, ...]
    if draw(st.booleans()):
        trees = (_chain(arity if is_full else draw(st.integers(1, arity))),)
    elif program.is_mapped:
        some = ((), (), _grow(arity, is_full, draw(_PLACES)[:1]))
        trees = tuple(some[i % len(some)] for i in range(MANY))
    else:
        trees = (_balanced(arity),)
    seeds = st.integers(0, 999)
    return Forest(trees, arity, draw(seeds), draw(seeds))


def _chain(width: int) -> Tree:
    """Returns a tree whose nodes have leaves beside the child that goes on."""
    tree: Tree = ()
    for _ in range(CHAIN):
        tree = (*[()] * (width - 1), tree)
    return tree


def _balanced(arity: int) -> Tree:
    tree: Tree = ()
    for _ in range(CHAIN if arity == 1 else math.ceil(math.log(MANY, arity))):
        tree = (tree,) * arity
    return tree
