"""DyNet's programs over sequences: sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.ed_batch.peers.dynet_layers import Expressions, Layers, affine
from benchmarks.peers.autobatching import dy
from benchmarks.works import texts
from benchmarks.works.lstm_nmt import END, LONGEST


class BiLSTM:
    """Two LSTMs, each from another end."""

    def __init__(self, layers: Layers, name: str = "") -> None:
        self._lstms = [layers.lstm(f"{name}{way}") for way in ("forward", "backward")]

    def states(self, steps: Expressions) -> tuple[Expressions, Expressions]:
        """Returns h of each step, forward and backward."""
        forward, backward = self._lstms
        before = forward.initial_state().transduce(steps)
        after = backward.initial_state().transduce(steps[::-1])
        return before, after[::-1]

    def last(self, steps: Expressions) -> dy.Expression:
        """Returns both h at the end."""
        forward, backward = self.states(steps)
        return dy.concatenate([forward[-1], backward[0]])


class Tagger:
    """benchmarks/works/bilstm_tagger.py."""

    def __init__(self, layers: Layers) -> None:
        self._words = layers.lookup("embedding")
        self._encoder = BiLSTM(layers)
        self._tags = layers.dense("tags")

    def outputs(self, batch: texts.Batch) -> dy.Expression:
        """Returns the tags of all words, as a batch."""
        words = _looked_up(self._words, batch.words)
        return self._tags_of(words, batch.sizes)

    def _tags_of(self, words: Expressions, sizes: np.ndarray) -> dy.Expression:
        sentences = [self._encoder.states(part) for part in _parts(words, sizes)]
        both = [
            dy.concatenate_to_batch([h for states in way for h in states])
            for way in zip(*sentences, strict=True)
        ]
        return affine(self._tags, dy.concatenate(both))


class CharTagger(Tagger):
    """benchmarks/works/bilstm_char_tagger.py."""

    def __init__(self, layers: Layers) -> None:
        super().__init__(layers)
        self._word_encoder = BiLSTM(layers, "word_")

    def outputs(self, batch: texts.Batch) -> dy.Expression:
        """Returns the tags of all words, as a batch."""
        characters = _looked_up(self._words, batch.characters)
        words = map(self._word_encoder.last, _parts(characters, batch.lengths))
        return self._tags_of(list(words), batch.sizes)


class Translator:
    """benchmarks/works/lstm_nmt.py."""

    def __init__(self, layers: Layers) -> None:
        self._words = layers.lookup("embedding")
        self._encoder = layers.lstm("encoder")
        self._target_words = layers.lookup("target_embedding")
        self._decoder = layers.lstm("decoder")
        self._scores = layers.dense("scores")

    def outputs(self, batch: texts.Batch) -> dy.Expression:
        """Returns the last h of each sentence, as a batch."""
        words = _looked_up(self._words, batch.words)
        states = [
            self._decoder.initial_state(
                self._encoder.initial_state().add_inputs(part)[-1].s()
            )
            for part in _parts(words, batch.sizes)
        ]
        likely = dict.fromkeys(range(len(states)), END)
        for _ in range(LONGEST + 1):
            for sentence, word in likely.items():
                x = self._target_words[word]
                states[sentence] = states[sentence].add_input(x)
            words = self._likely([states[sentence] for sentence in likely])
            pairs = zip(likely, words, strict=True)
            likely = {sentence: word for sentence, word in pairs if word != END}
            if not likely:
                break
        return dy.concatenate_to_batch([state.output() for state in states])

    def _likely(self, states: Sequence[Any]) -> list[int]:
        """Returns the word of the highest score of each state; computes all so far."""
        h = dy.concatenate_to_batch([state.output() for state in states])
        scores = affine(self._scores, h).npvalue()
        return scores.reshape(-1, len(states), order="F").argmax(0).tolist()


def _looked_up(embedding: Any, numbers: np.ndarray) -> Expressions:
    """Returns the vectors of numbers, each of which is looked up once."""
    found = {number: embedding[number] for number in set(numbers.tolist())}
    return [found[number] for number in numbers.tolist()]


def _parts(values: Expressions, sizes: np.ndarray) -> list[Expressions]:
    ends = np.cumsum(sizes).tolist()
    return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]
