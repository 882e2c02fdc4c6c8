"""The TreeLSTM of the models, of any size, with random trees for it."""

import random
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from models.cells import TreeLSTMCell
from models.classifier import Encoder, NodeClassifier
from models.training import Settings, Trainer
from models.trees import Forest, Tree

Step = Callable[[Forest], object]


class Size(NamedTuple):
    """Of a model: words, and lengths of their vectors and of a node's h and c."""

    vocabulary: int
    embedding: int
    hidden: int


# The Stanford Sentiment Treebank's, as in Tai et al. (2015).
TREEBANK = Size(18_280, 300, 150)
CLASSES = 5


def random_tree(rng: random.Random, words: int, vocabulary: int) -> Forest:
    """Returns a tree whose neighbours are joined in a random order."""
    tree = Tree()
    nodes = [tree.add_leaf("", rng.randrange(CLASSES)) for _ in range(words)]
    while len(nodes) > 1:
        i = rng.randrange(len(nodes) - 1)
        nodes[i : i + 2] = [
            tree.add_internal(nodes[i], nodes[i + 1], rng.randrange(CLASSES))
        ]
    tokens = [rng.randrange(vocabulary) for _ in tree.words]
    arrays = (tokens, tree.left, tree.right, tree.labels, [len(tokens) - 1])
    return Forest(*(np.array(a, np.int32) for a in arrays))


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
