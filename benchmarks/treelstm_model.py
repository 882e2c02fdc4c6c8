"""The TreeLSTM of the models, of any size, with random trees for it."""

from collections.abc import Callable
from typing import NamedTuple

from models.cells import TreeLSTMCell
from models.classifier import Encoder, NodeClassifier
from models.training import Settings, Trainer
from recursive_tf.data import Forest, generate

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
    return generate(
        "random",
        num_trees,
        words=words,
        vocabulary=size.vocabulary,
        classes=CLASSES,
        seed=seed,
    )


def make_steps(encoder: Encoder, size: Size = TREEBANK) -> dict[str, Step]:
    """Returns the two steps of a model that runs its cell by `encoder`."""
    model = NodeClassifier(TreeLSTMCell(*size), encoder, CLASSES, dropout=0.5)
    settings = Settings(epochs=1, batch_size=1, learning_rate=0.05, l2=1e-4)
    trainer = Trainer(model, settings)
    # A tf.function of a method does not keep its object alive; these do.
    return {
        "training": lambda forest: trainer.train_step(forest),
        "inference": lambda forest: trainer.held_out_step(forest),
    }
