"""Dependency trees as a task: scored, compared with baselines, made."""

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import flags

import recursive_tf as rtf
from models.dependency.baselines import Bigram, Unigram, perplexity
from models.dependency.generator import Generator
from models.dependency.limits import Limits
from models.dependency.model import DependencyModel
from models.dependency.settings import DependencySettings
from models.dependency.trees import read_conllu, read_trees
from models.running import settings as all_settings
from models.running.held_out import read
from models.running.task import Vocabulary
from recursive_tf.data import Forest, ReadError
from recursive_tf.training import Change, Monitor, RunError, RunFolder

_GREEDY = flags.DEFINE_boolean(
    "greedy", False, "predict: choose what is likeliest, and do not draw."
)
_DRAW_SEED = flags.DEFINE_integer("draw_seed", 0, "predict: of what is drawn.")
_MAX_DEPTH = flags.DEFINE_integer(
    "max_depth",
    Limits().max_depth,
    "predict: words so far below the root get no dependents.",
    lower_bound=0,
)
_MAX_NODES = flags.DEFINE_integer(
    "max_nodes",
    Limits().max_nodes,
    "predict: places for a tree's words.",
    lower_bound=1,
)
# Words that occur once are not known: so the model learns where such words stand.
MIN_COUNT = 2
# A longer number of trees is too many, whatever it is.
MAX_DIGITS = 20


@dataclasses.dataclass(frozen=True)
class Dependencies:
    """A model that scores and makes trees: see `models.running.task.Task`."""

    name: str
    generated: DependencySettings
    given: DependencySettings

    def monitor(self, settings: DependencySettings, model: keras.Model) -> Monitor:
        """Returns the loss: of words and edges."""
        return Monitor("loss", "min")

    def read(self, settings: DependencySettings, split: str) -> Forest:
        """Returns dependency trees."""
        return read_trees(settings, split)

    def known(self, settings: DependencySettings, train: Forest) -> Forest:
        """Returns all training trees."""
        if settings.limit_trees is None:
            return train
        return read_trees(dataclasses.replace(settings, limit_trees=None), "train")

    def vocabulary(self, known: Forest) -> Vocabulary:
        """Returns the words that occur more than once."""
        return rtf.data.vocabulary(known, min_count=MIN_COUNT)

    def build(
        self, settings: DependencySettings, known: Forest, words: Vocabulary
    ) -> keras.Model:
        """Returns the compiled model."""
        model = DependencyModel(
            settings.hidden,
            words.vocabulary_size(),
            settings.dropout,
            settings.left_dependents,
            settings.executor,
        )
        model.compile(rtf.optimizers.LazyAdam(settings.learning_rate))
        model.optimizer.build(model.trainable_variables)
        return model

    def change(
        self, settings: DependencySettings, train: Forest, words: Vocabulary
    ) -> Change | None:
        """Leaves batches as they are: words that occur once are unknown anyway."""
        return None

    def check(self, model: DependencyModel, forest: Forest, split: str) -> None:
        """Takes all trees: words that are not known are one word."""

    def predict(
        self, model: DependencyModel, words: Vocabulary, inputs: Sequence[str]
    ) -> Forest:
        """Makes and prints trees.

        An input is a number: so many new trees; or a file `*.conllu`, whose trees are
        completed; or a word, the root of a tree that is completed.
        """
        limits = Limits(_MAX_DEPTH.value, _MAX_NODES.value)
        generator = Generator(model, greedy=_GREEDY.value, limits=limits)
        names = np.array(words.get_vocabulary())
        made = []
        for trees in _made(generator, words, inputs):
            trees = trees.replace(tokens=names[trees.tokens.numpy()], features={})
            trees.show(max_trees=len(trees))
            made.append(trees)
        return rtf.data.concat(made)

    def about(
        self, model: keras.Model, forest: Forest, run: RunFolder
    ) -> dict[str, Any]:
        """Returns the perplexities of baselines, counted in the training trees."""
        settings = all_settings.load(DependencySettings, run.settings)
        words = run.load_words()
        train = rtf.data.encode(read(self, settings, "train"), tokens=words)
        size = words.vocabulary_size()
        baselines = {"unigram": Unigram(train, size), "bigram": Bigram(train, size)}
        return {
            f"perplexity_{name}": round(perplexity(baseline, forest), 4)
            for name, baseline in baselines.items()
        }


def _made(
    generator: Generator, words: Vocabulary, inputs: Sequence[str]
) -> Iterator[Forest]:
    """Yields the trees of each input."""
    for seed, text in enumerate(map(str.strip, inputs), start=_DRAW_SEED.value):
        try:
            if text.isdecimal():
                yield generator.generate(int(text[:MAX_DIGITS]), seed)
            elif text:
                is_file = text.endswith(".conllu")
                given = read_conllu(pathlib.Path(text)) if is_file else _word(text)
                yield generator.complete(rtf.data.encode(given, tokens=words), seed)
        except ReadError:
            raise
        except ValueError as error:  # Of limits, and of what is no text.
            raise RunError(f"{text!a:.40}: {error}") from None


def _word(word: str) -> Forest:
    children = tf.RaggedTensor.from_row_lengths(tf.zeros([0], tf.int32), [0])
    return Forest(tokens=[word], children=children, roots=[0], sizes=[1])
