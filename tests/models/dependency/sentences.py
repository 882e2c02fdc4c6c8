"""Small trees for tests, and a model with random weights."""

import numpy as np
import tensorflow as tf

from models.dependency.model import DependencyModel
from recursive_tf.data import Forest

VOCABULARY, UNITS = 9, 3
# "The old cook waits near the wet ship .", and one word alone.
WORDS = [1, 2, 3, 4, 5, 1, 7, 8, 6, 2]
CHILDREN = [[], [], [0, 1], [2, 4, 8], [7], [], [], [5, 6], [], []]
LEFT, RIGHT, NEXT_LEFT, NEXT_RIGHT = range(4)
# By head or neighbor, the type of edge, and where it goes.
EDGES = {
    (3, LEFT): 2,
    (3, RIGHT): 4,
    (2, LEFT): 1,
    (1, NEXT_LEFT): 0,
    (4, RIGHT): 7,
    (4, NEXT_RIGHT): 8,
    (7, LEFT): 6,
    (6, NEXT_LEFT): 5,
}
HEADS = [2, 2, 3, -1, 3, 7, 7, 4, 3, -1]


def sentences() -> Forest:
    """Returns the two trees."""
    children = tf.ragged.constant(CHILDREN, dtype=tf.int32)
    return Forest(tokens=WORDS, children=children, roots=[3, 9], sizes=[9, 1])


def random_model(seed: int = 0, scale: float = 0.7, **choices) -> DependencyModel:
    """Returns a model in float64 with weights that are not small."""
    model = DependencyModel(UNITS, VOCABULARY, dtype="float64", **choices)
    randomize(model, seed, scale)
    return model


def randomize(model: DependencyModel, seed: int, scale: float) -> None:
    """Gives a model other weights."""
    rng = np.random.default_rng(seed)
    model.set_weights([scale * rng.normal(size=w.shape) for w in model.get_weights()])


def heads_and_words(forest: Forest) -> tuple[list[int], list[int]]:
    """Returns the head of each word, and the word."""
    heads = np.full(int(forest.num_nodes), -1)
    for head, children in enumerate(forest.children.to_list()):
        heads[children] = head
    return heads.tolist(), forest.tokens.numpy().tolist()
