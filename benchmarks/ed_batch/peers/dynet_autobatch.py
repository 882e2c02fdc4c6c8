"""DyNet with autobatching: sentence by sentence, which DyNet batches.

    python -m benchmarks.ed_batch.peers.dynet_autobatch --model tagger.npz --batch 32

DyNet computes on one thread. Gradients are added up and never applied, which nothing
depends on; so no time is spent on setting them to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dynet_config
import numpy as np

# Megabytes, which grow where they have to.
dynet_config.set(mem=2048, autobatch=1, random_seed=1)
import dynet as dy  # noqa: E402 (reads its configuration at import)

from benchmarks.peers import command  # noqa: E402
from benchmarks.works import texts, trees  # noqa: E402
from benchmarks.works.lstm_nmt import END, LONGEST  # noqa: E402
from benchmarks.works.work import Work  # noqa: E402

Expressions = list[dy.Expression]


class Layers:
    """Layers with the weights of a work.

    Attributes:
        units: Of every cell, and of embeddings.
        collection: All parameters.
        parameters: The same by the names of the work.
    """

    def __init__(self, work: Work) -> None:
        self._weights = work.weights
        self.units = work.weights["embedding"].shape[1]
        self.collection = dy.ParameterCollection()
        self.parameters: dict[str, Any] = {}

    def lookup(self, name: str) -> Any:
        """Returns embeddings."""
        made = self.collection.lookup_parameters_from_numpy(self._weights[name])
        self.parameters[name] = made
        return made

    def lstm(self, name: str) -> dy.CompactVanillaLSTMBuilder:
        """Returns an LSTM; in DyNet o stands before u, and the bias of f has 1 more."""
        names = [f"{name}_{part}" for part in ("kernel", "recurrent", "bias")]
        of, four_units = self._weights[names[0]].shape
        builder = dy.CompactVanillaLSTMBuilder(1, of, four_units // 4, self.collection)
        [parameters] = builder.get_parameters()
        for each, parameter in zip(names, parameters, strict=True):
            i, f, u, o = np.split(self._weights[each], 4, axis=-1)
            if each.endswith("bias"):
                f = f - 1
            parameter.set_value(np.concatenate([i, f, o, u], -1).T)
            self.parameters[each] = parameter
        return builder

    def dense(self, name: str) -> tuple[Any, Any]:
        """Returns a bias and a matrix."""
        for each in (f"{name}_bias", f"{name}_kernel"):
            value = np.ascontiguousarray(self._weights[each].T)
            self.parameters[each] = self.collection.parameters_from_numpy(value)
        return self.parameters[f"{name}_bias"], self.parameters[f"{name}_kernel"]


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
        return _affine(self._tags, dy.concatenate(both))


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
        scores = _affine(self._scores, h).npvalue()
        return scores.reshape(-1, len(states), order="F").argmax(0).tolist()


class TreeGRU:
    """benchmarks/works/tree_gru.py."""

    def __init__(self, layers: Layers) -> None:
        self._words = layers.lookup("embedding")
        names = ("leaf", "gate", "candidate")
        self._leaf, self._gate, self._candidate = map(layers.dense, names)
        self._units = layers.units

    def outputs(self, batch: trees.Batch) -> dy.Expression:
        """Returns the h of roots, as a batch; all leaves are one expression."""
        words = batch.word[batch.left == trees.NO_CHILD].tolist()
        leaves = dy.tanh(_affine(self._leaf, dy.lookup_batch(self._words, words)))
        states: Expressions = []
        next_leaf = 0
        for left, right in zip(batch.left.tolist(), batch.right.tolist(), strict=True):
            if left == trees.NO_CHILD:
                states.append(dy.pick_batch_elem(leaves, next_leaf))
                next_leaf += 1
            else:
                states.append(self._inside(states[left], states[right]))
        return dy.concatenate_to_batch([states[root] for root in batch.roots.tolist()])

    def _inside(self, left: dy.Expression, right: dy.Expression) -> dy.Expression:
        units = self._units
        h = dy.concatenate([left, right])
        gates = _affine(self._gate, h)
        reset = dy.logistic(dy.pick_range(gates, 0, 2 * units))
        candidate = dy.tanh(_affine(self._candidate, dy.cmult(reset, h)))
        # Scores are small, so that exp needs no largest one taken off.
        scores = dy.exp(dy.pick_range(gates, 2 * units, 5 * units))
        parts = [dy.pick_range(scores, k * units, (k + 1) * units) for k in range(3)]
        choices = zip(parts, (left, right, candidate), strict=True)
        return dy.cdiv(dy.esum([dy.cmult(*pair) for pair in choices]), dy.esum(parts))


def _affine(layer: tuple[Any, Any], x: dy.Expression) -> dy.Expression:
    return dy.affine_transform([*layer, x])


def _looked_up(embedding: Any, numbers: np.ndarray) -> Expressions:
    """Returns the vectors of numbers, each of which is looked up once."""
    found = {number: embedding[number] for number in set(numbers.tolist())}
    return [found[number] for number in numbers.tolist()]


def _parts(values: Expressions, sizes: np.ndarray) -> list[Expressions]:
    ends = np.cumsum(sizes).tolist()
    return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]


MODELS: dict[str, Any] = {
    "bilstm_tagger": Tagger,
    "bilstm_char_tagger": CharTagger,
    "lstm_nmt": Translator,
    "tree_gru": TreeGRU,
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
        norms = {
            name: float(np.linalg.norm(parameter.grad_as_array().astype(float)))
            for name, parameter in self._layers.parameters.items()
        }
        return loss, norms

    def _loss(self, sentences: np.ndarray) -> dy.Expression:
        dy.renew_cg()
        outputs = self._model.outputs(self._inputs.batch(sentences))
        return dy.sum_batches(dy.squared_norm(outputs))


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"dynet": "2.1.2"}


if __name__ == "__main__":
    command.main(Autobatch, versions)
