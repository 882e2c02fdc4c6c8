"""PyTorch by hand: its LSTMs over packed sequences, and a loop that decodes.

    python -m benchmarks.ed_batch.peers.torch_by_hand --model tagger.npz --batch 32

Autograd computes the gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import rnn

from benchmarks.peers import command
from benchmarks.works import texts
from benchmarks.works.bilstm_tagger import TAGS
from benchmarks.works.lstm_nmt import END, LONGEST, TARGET_WORDS
from benchmarks.works.texts import CHARACTERS, VOCABULARY, padded
from benchmarks.works.work import Work

THREADS = 2
# Only the rows of words that occur have gradients.
SPARSE = {"sparse": True}


class Tagger(nn.Module):
    """benchmarks/works/bilstm_tagger.py."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, units, **SPARSE)
        self.encoder = nn.LSTM(units, units, bidirectional=True)
        self.tags = nn.Linear(2 * units, TAGS)

    def parts(self) -> list[nn.Module]:
        """Returns the layers, in the order of the work's weights."""
        return [self.words, self.encoder, self.tags]

    def forward(self, batch: texts.Batch) -> Tensor:
        """Returns [words, tags], of all sentences."""
        words = _embedded(self.words, _packed(batch.words, batch.sizes))
        return self.tags(self.encoder(words)[0].data)


class CharTagger(nn.Module):
    """benchmarks/works/bilstm_char_tagger.py."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(CHARACTERS, units)
        self.word_encoder = nn.LSTM(units, units, bidirectional=True)
        self.encoder = nn.LSTM(2 * units, units, bidirectional=True)
        self.tags = nn.Linear(2 * units, TAGS)

    def parts(self) -> list[nn.Module]:
        """Returns the layers, in the order of the work's weights."""
        return [self.characters, self.word_encoder, self.encoder, self.tags]

    def forward(self, batch: texts.Batch) -> Tensor:
        """Returns [words, tags], of all sentences."""
        packed = _packed(batch.characters, batch.lengths)
        _, (last, _) = self.word_encoder(_embedded(self.characters, packed))
        vectors = torch.cat([last[0], last[1]], 1)
        of_sentences = torch.split(vectors, batch.sizes.tolist())
        words = rnn.pack_sequence(of_sentences, enforce_sorted=False)
        return self.tags(self.encoder(words)[0].data)


class Translator(nn.Module):
    """benchmarks/works/lstm_nmt.py."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, units, **SPARSE)
        self.encoder = nn.LSTM(units, units)
        self.target_words = nn.Embedding(TARGET_WORDS, units)
        self.decoder = nn.LSTMCell(units, units)
        self.scores = nn.Linear(units, TARGET_WORDS)

    def parts(self) -> list[nn.Module]:
        """Returns the layers, in the order of the work's weights."""
        target = [self.target_words, self.decoder, self.scores]
        return [self.words, self.encoder, *target]

    def forward(self, batch: texts.Batch) -> Tensor:
        """Returns [sentences, units]."""
        words = _embedded(self.words, _packed(batch.words, batch.sizes))
        _, (h, c) = self.encoder(words)
        h, c = h[0], c[0]
        word = torch.full([len(h)], END)
        goes_on = torch.ones(len(h), 1, dtype=torch.bool)
        for _ in range(LONGEST + 1):
            new_h, new_c = self.decoder(self.target_words(word), (h, c))
            h, c = torch.where(goes_on, new_h, h), torch.where(goes_on, new_c, c)
            word = self.scores(new_h).detach().argmax(1)
            goes_on = goes_on & (word != END)[:, None]
            if not goes_on.any():
                break
        return h


def _packed(values: np.ndarray, sizes: np.ndarray) -> rnn.PackedSequence:
    rows = torch.from_numpy(padded(values, sizes))
    lengths = torch.from_numpy(sizes.astype(np.int64))
    return rnn.pack_padded_sequence(
        rows, lengths, batch_first=True, enforce_sorted=False
    )


def _embedded(embedding: nn.Embedding, packed: rnn.PackedSequence) -> Any:
    return rnn.PackedSequence(embedding(packed.data), *packed[1:])


MODELS = {
    "bilstm_tagger": Tagger,
    "bilstm_char_tagger": CharTagger,
    "lstm_nmt": Translator,
}


class Steps:
    """A system, made of a module.

    Args:
        work: What to compute.
    """

    def __init__(self, work: Work) -> None:
        self._inputs = work.trees
        self._model = MODELS[work.name](work.weights["embedding"].shape[1])
        of_parts = [p for part in self._model.parts() for p in _parameters(part)]
        self._parameters = dict(zip(work.weights, of_parts, strict=True))
        for name, parameter in self._parameters.items():
            # PyTorch's matrices are transposed, but for embeddings.
            is_same = "embedding" in name or name.endswith("bias")
            value = work.weights[name]
            parameter.data.copy_(torch.from_numpy(value if is_same else value.T))

    def train(self, sentences: np.ndarray) -> float:
        """Computes gradients; returns the loss."""
        self._model.zero_grad()
        loss = self._loss(sentences)
        loss.backward()
        return float(loss.detach())

    @torch.inference_mode()
    def infer(self, sentences: np.ndarray) -> float:
        """Returns the loss."""
        return float(self._loss(sentences))

    def gradients(self, sentences: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norms of its gradients."""
        loss = self.train(sentences)
        return loss, {name: _norm(p.grad) for name, p in self._parameters.items()}

    def _loss(self, sentences: np.ndarray) -> Tensor:
        return (self._model(self._inputs.batch(sentences)) ** 2).sum()


def _parameters(part: nn.Module) -> list[nn.Parameter]:
    """Returns those that the work has: of two biases of an LSTM, the other is 0."""
    found = []
    for name, parameter in part.named_parameters():
        if "bias_hh" in name:
            nn.init.zeros_(parameter)
        else:
            found.append(parameter)
    return found


def _norm(gradient: Tensor | None) -> float:
    if gradient is None:
        return 0.0
    dense = gradient.to_dense() if gradient.is_sparse else gradient
    return float(dense.double().norm())


def make(work: Work, optimizer: str) -> Steps:
    """Returns the system."""
    del optimizer  # Nothing is updated.
    torch.set_num_threads(THREADS)
    return Steps(work)


def versions() -> dict[str, str]:
    """Says what the system is made with."""
    return {"torch": torch.__version__}


if __name__ == "__main__":
    command.main(make, versions)
