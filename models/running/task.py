"""What a script says of its model; the rest is the same for all."""

from collections.abc import Sequence
from typing import Any, Protocol

import keras

from models.running.settings import Settings
from recursive_tf.data import Forest
from recursive_tf.training import Change, Monitor, RunFolder

Vocabulary = keras.layers.StringLookup


class Task(Protocol):
    """A model, its data, and what is done with it.

    Attributes:
        name: Of the model, e.g. "tree_lstm".
        generated: The settings for data that is generated.
        given: The settings with `--data`.
    """

    name: str
    generated: Settings
    given: Settings

    def monitor(self, settings: Any, model: keras.Model) -> Monitor:
        """Returns what decides which epoch is the best."""

    def read(self, settings: Any, split: str) -> Forest:
        """Returns the trees of "train", "dev" or "test", with words as strings.

        Raises:
            rtf.data.ReadError: If they are not there, or are no trees.
        """

    def known(self, settings: Any, train: Forest) -> Forest:
        """Returns the trees that words and labels are taken from.

        They are all training trees, also where `--limit_trees` takes a few to learn
        from. So runs that differ in this flag have the same words and labels.

        Args:
            settings: As the task's `given`.
            train: The trees to learn from: what to return if there is no limit.
        """

    def vocabulary(self, known: Forest) -> Vocabulary:
        """Returns the words of the training trees that the model is to know."""

    def build(self, settings: Any, known: Forest, words: Vocabulary) -> keras.Model:
        """Returns a compiled model with its variables, those of metrics too.

        It is trained on forests alone: labels are in them.

        Args:
            settings: As the task's `given`.
            known: As from `known`, with words as integers.
            words: What these integers are.
        """

    def change(self, settings: Any, train: Forest, words: Vocabulary) -> Change | None:
        """Returns what is done to batches in training, and not in an evaluation.

        Args:
            settings: As the task's `given`.
            train: The trees to learn from, with words as integers.
            words: What these integers are.
        """

    def check(self, model: keras.Model, forest: Forest, split: str) -> None:
        """Raises a RunError if a split has what the model cannot be measured by."""

    def predict(
        self, model: keras.Model, words: Vocabulary, inputs: Sequence[str]
    ) -> Forest:
        """Prints what the model says; returns it, with labels that it predicted.

        Args:
            model: As trained.
            words: Its vocabulary.
            inputs: From the command line, or the lines of the standard input.
        """

    def about(
        self, model: keras.Model, forest: Forest, run: RunFolder
    ) -> dict[str, Any]:
        """Returns what an evaluation says besides the model's metrics."""
