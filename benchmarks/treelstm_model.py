"""The TreeLSTM of the models, of any size, with random trees for it."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

import recursive_tf as rtf
from benchmarks.training_step import make_training_step
from models.tree_lstm import TASK
from recursive_tf.data import Forest

Step = Callable[[Forest], object]


class Size(NamedTuple):
    """Of a model: words, and lengths of their vectors and of a node's h and c."""

    vocabulary: int
    embedding: int
    hidden: int


# The Stanford Sentiment Treebank's, as in Tai et al. (2015).
TREEBANK = Size(18_280, 300, 150)
CLASSES = 5


def random_trees(
    num_trees: int, words: int | range, size: Size = TREEBANK, seed: int = 0
) -> Forest:
    """Returns trees for a model of some size, whose words are split anywhere."""
    return rtf.data.generate(
        "random",
        num_trees,
        words=words,
        vocabulary=size.vocabulary,
        classes=CLASSES,
        seed=seed,
    )


def read_trees(data: str, limit: int) -> Forest:
    """Returns the first training trees of a treebank, with words as integers."""
    settings = dataclasses.replace(TASK.given, data=data)
    trees = TASK.read(settings, "train")
    return rtf.data.encode(trees, tokens=rtf.data.vocabulary(trees))[:limit]


def make_steps(size: Size = TREEBANK, **choices: Any) -> dict[str, Step]:
    """Returns the two steps of a model, without `fit` around them.

    Args:
        size: Of the model.
        **choices: Settings, e.g. `program="iterative"`.
    """
    settings = dataclasses.replace(
        TASK.given, hidden=size.hidden, embedding=size.embedding, **choices
    )
    model = TASK.make_model(settings, CLASSES, size.vocabulary)
    # As Keras's `fit` and `predict` do; a signature costs a call a little more.
    train = make_training_step(model, model.optimizer, reduce_retracing=True)

    @tf.function(reduce_retracing=True, autograph=False)
    def infer(forest: Forest) -> tf.Tensor:
        return model(forest, training=False)

    return {"training": train, "inference": infer}
