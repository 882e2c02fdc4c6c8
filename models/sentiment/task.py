"""Sentiment as a task: trees with labels, a classifier over a cell."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from models.running.task import Vocabulary
from models.sentiment import inputs as typed
from models.sentiment.classifier import BINARY, NodeClassifier
from models.sentiment.iterative import IterativeEncoder
from models.sentiment.rare_words import hide_rare_words
from models.sentiment.settings import SentimentSettings
from models.sentiment.trees import read_trees
from recursive_tf.data import Forest
from recursive_tf.training import Change, Monitor, RunError, RunFolder


@dataclasses.dataclass(frozen=True)
class Sentiment:
    """A model that labels every node: see `models.running.task.Task`.

    Attributes:
        name: Of the model.
        make_cell: Returns the cell for some settings.
        generated: The settings for data that is generated.
        given: The settings with `--data`.
    """

    name: str
    make_cell: Callable[[SentimentSettings], Any]
    generated: SentimentSettings
    given: SentimentSettings

    def monitor(self, settings: SentimentSettings, model: keras.Model) -> Monitor:
        """Returns what the settings say, or what there is of two labels."""
        is_binary = model.classes == BINARY and settings.best_by == "root_fine"
        return Monitor("root_binary" if is_binary else settings.best_by, "max")

    def read(self, settings: SentimentSettings, split: str) -> Forest:
        """Returns labeled trees."""
        return read_trees(settings, split)

    def known(self, settings: SentimentSettings, train: Forest) -> Forest:
        """Returns all training trees; those of reviews as nobody has labeled them."""
        if settings.limit_trees is None:
            return train
        # A labeler takes long, and finds no label that roots do not have.
        return read_trees(
            dataclasses.replace(settings, limit_trees=None, labeler=None), "train"
        )

    def vocabulary(self, known: Forest) -> Vocabulary:
        """Returns all words."""
        return rtf.data.vocabulary(known)

    def build(
        self, settings: SentimentSettings, known: Forest, words: Vocabulary
    ) -> keras.Model:
        """Returns the compiled model."""
        vectors = None
        if settings.vectors is not None:
            vectors = rtf.data.load_vectors(
                settings.vectors, words, lower=True, seed=settings.seed
            ).matrix
        classes = max(BINARY, 1 + int(tf.reduce_max(known.labels)))
        return self.make_model(settings, classes, words.vocabulary_size(), vectors)

    def make_model(
        self,
        settings: SentimentSettings,
        classes: int,
        vocabulary_size: int,
        vectors: np.ndarray | None = None,
    ) -> keras.Model:
        """Returns a compiled model with its variables.

        Args:
            settings: Sizes, rates and so on.
            classes: The number of labels.
            vocabulary_size: The number of words.
            vectors: What their vectors begin with; random if there are none.
        """
        embedding = _embedding(settings, vocabulary_size, vectors)
        encoder = self._encoder(settings, embedding)
        model = NodeClassifier(encoder, classes, settings.dropout, settings.l2)
        model.build()
        model.compile(_optimizer(settings.learning_rate, settings.embedding_rate))
        model.optimizer.build(model.trainable_variables)
        return model

    def _encoder(self, settings: SentimentSettings, embedding: Any) -> Any:
        cell = self.make_cell(settings)
        if settings.program == "iterative":
            return IterativeEncoder(cell, embedding)
        return rtf.layers.TreeEncoder(
            cell,
            embedding,
            name=self.name,
            executor=settings.executor,
            return_nodes=True,
        )

    def change(
        self, settings: SentimentSettings, train: Forest, words: Vocabulary
    ) -> Change | None:
        """Returns what makes words unknown that occur once."""
        if not settings.unknown_words:
            return None
        return hide_rare_words(train, words.vocabulary_size(), settings.unknown_words)

    def check(self, model: keras.Model, forest: Forest, split: str) -> None:
        """Raises a RunError if there is a label that the training trees have not."""
        largest = int(tf.reduce_max(forest.labels))
        if largest >= model.classes:
            raise RunError(
                f"--data: the {split} trees have the label {largest}, those to learn "
                f"from only 0 to {model.classes - 1}. All labels have to be in these."
            )

    def predict(
        self, model: keras.Model, words: Vocabulary, inputs: Sequence[str]
    ) -> Forest:
        """Prints trees, colored by what the model says."""
        trees, sentences = typed.trees_of(inputs)
        if sentences:
            print("A sentence has no tree: its words are joined in a balanced one.")
        logits = model(rtf.data.encode(trees, tokens=words))
        trees = trees.replace(labels=tf.argmax(logits, -1, tf.int32))
        trees.show(max_trees=len(trees))
        return trees

    def about(
        self, model: keras.Model, forest: Forest, run: RunFolder
    ) -> dict[str, Any]:
        """Says no more."""
        return {}


def _optimizer(rate: float, embedding_rate: float) -> rtf.optimizers.SparseAdagrad:
    """Returns AdaGrad with a rate for words' vectors, and one for all else."""
    if not embedding_rate:
        return rtf.optimizers.SparseAdagrad(rate)
    if not rate:
        others = {"^(?!.*embedding)": 0.0}
        return rtf.optimizers.SparseAdagrad(embedding_rate, rate_factors=others)
    factors = {"embedding": embedding_rate / rate}
    return rtf.optimizers.SparseAdagrad(rate, rate_factors=factors)


def _embedding(
    settings: SentimentSettings, vocabulary_size: int, vectors: np.ndarray | None
) -> Any:
    """Returns the vectors of words."""
    size, reach = settings.embedding, settings.embedding_range
    initializer: Any = keras.initializers.RandomUniform(-reach, reach)
    if vectors is not None:
        size, initializer = vectors.shape[1], keras.initializers.Constant(vectors)
    return keras.layers.Embedding(
        vocabulary_size,
        size,
        initializer,
        trainable=settings.embedding_rate > 0,
        name="embedding",
    )
