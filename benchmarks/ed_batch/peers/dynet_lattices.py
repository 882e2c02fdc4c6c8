"""DyNet's programs over lattices: node by node."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from benchmarks.ed_batch.peers.dynet_layers import (
    Expressions,
    Gates,
    Layers,
    State,
    affine_of_two,
    parts,
    ranges,
)
from benchmarks.peers.autobatching import dy
from benchmarks.works import lattices


class LatticeModel:
    """Runs a cell over the lattices of a batch; a state ends with its memory."""

    def __init__(self, layers: Layers) -> None:
        self._tables = [layers.lookup(f"{of}embedding") for of in ("", "word_")]
        names = ("link_bias", "link_x_kernel", "link_c_kernel")
        self._link = tuple(map(layers.parameter, names))
        self._units = layers.units

    def outputs(self, batch: lattices.Batch) -> dy.Expression:
        """Returns the h of last positions, as a batch."""
        first = (dy.zeros(self._units),) * 2
        vectors = self._vectors(batch)
        links = iter(batch.children.tolist())
        states: list[State] = []
        nodes = zip(batch.is_word.tolist(), batch.counts.tolist(), vectors, strict=True)
        for is_word, count, x in nodes:
            children = [states[link] for link in itertools.islice(links, count)]
            if not children:
                states.append(first)
            elif is_word:
                states.append(self._word(x, *children))
            else:
                states.append(self._position(x, *children))
        return dy.concatenate_to_batch([states[n][0] for n in batch.roots.tolist()])

    def _vectors(self, batch: lattices.Batch) -> list[dy.Expression | None]:
        """Returns x of each node, looked up once for each character and word."""
        names = list(zip(batch.is_word.tolist(), batch.tokens.tolist(), strict=True))
        found = {
            (is_word, token): self._tables[is_word][token]
            for is_word, token in set(names)
            if token >= 0
        }
        return [found.get(name) for name in names]

    def _word(self, x: dy.Expression, begin: State) -> State:
        """Returns the state of a word.

        Args:
            x: Of the word.
            begin: Of the position where it begins.
        """
        raise NotImplementedError

    def _position(self, x: dy.Expression, before: State, *words: State) -> State:
        """Returns the state of a position.

        Args:
            x: Of the character before it.
            before: Of the position before it.
            *words: Of those that end at it.
        """
        raise NotImplementedError

    def _mixed(
        self,
        x: dy.Expression,
        gate: dy.Expression,
        candidate: dy.Expression,
        before: dy.Expression,
        words: Sequence[State],
    ) -> dy.Expression:
        """Returns the memory of a position, as benchmarks/works/links.py says it."""
        if not words:
            return _between(gate, before, candidate)
        memories = [word[-1] for word in words]
        links = [dy.logistic(affine_of_two(self._link, x, m)) for m in memories]
        shares = [dy.exp(each) for each in (gate, *links)]
        pairs = zip(shares, (candidate, *memories), strict=True)
        return dy.cdiv(dy.esum([dy.cmult(*pair) for pair in pairs]), dy.esum(shares))


class LatticeLSTM(LatticeModel):
    """benchmarks/works/lattice_lstm.py. A state is h and c; that of a word is c."""

    def __init__(self, layers: Layers) -> None:
        super().__init__(layers)
        self._words = layers.dense_of_two("word")
        self._positions = layers.dense_of_two("position")
        self._gates = Gates(2, layers.units)

    def _word(self, x: dy.Expression, begin: State) -> State:
        h, c = begin
        (i, f), g = self._gates(affine_of_two(self._words, x, h))
        return (dy.cmult(f, c) + dy.cmult(i, g),)

    def _position(self, x: dy.Expression, before: State, *words: State) -> State:
        h, c = before
        (i, o), g = self._gates(affine_of_two(self._positions, x, h))
        new_c = self._mixed(x, i, g, c, words)
        return dy.cmult(o, dy.tanh(new_c)), new_c


class LatticeGRU(LatticeModel):
    """benchmarks/works/lattice_gru.py. A state is h."""

    def __init__(self, layers: Layers) -> None:
        super().__init__(layers)
        self._words, self._positions = (
            [layers.dense_of_two(f"{node}{part}") for part in ("", "_candidate")]
            for node in ("word", "position")
        )
        self._both = ranges(layers.units, layers.units)

    def _word(self, x: dy.Expression, begin: State) -> State:
        h = begin[-1]
        z, g = self._update(self._words, x, h)
        return (_between(z, h, g),)

    def _position(self, x: dy.Expression, before: State, *words: State) -> State:
        h = before[-1]
        z, g = self._update(self._positions, x, h)
        return (self._mixed(x, z, g, h, words),)

    def _update(
        self, layers: Sequence[tuple[Any, ...]], x: dy.Expression, h: dy.Expression
    ) -> Expressions:
        """Returns the gate z and the candidate g."""
        gates, candidate = layers
        products = affine_of_two(gates, x, h)
        r, z = parts(dy.logistic(products), self._both)
        return [z, dy.tanh(affine_of_two(candidate, x, dy.cmult(r, h)))]


def _between(
    gate: dy.Expression, old: dy.Expression, new: dy.Expression
) -> dy.Expression:
    """Returns (1 - gate) old + gate new."""
    return old + dy.cmult(gate, new - old)
