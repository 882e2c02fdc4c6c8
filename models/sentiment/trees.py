"""The labelled trees of a split: of a treebank, or generated."""

import pathlib

import recursive_tf as rtf
from models.sentiment import expressions
from models.sentiment.labels import without_neutral
from models.sentiment.settings import SentimentSettings
from recursive_tf.data import Forest

TREEBANK_CLASSES = 5
# Of each split: how many trees, and how deep they are. Those to learn from are not as
# deep as the others: a model has to find the rule.
GENERATED = {
    "train": (3000, range(1, 4)),
    "dev": (500, range(4, 7)),
    "test": (500, range(4, 7)),
}


def read_trees(settings: SentimentSettings, split: str) -> Forest:
    """Returns the trees of "train", "dev" or "test", words as strings.

    Raises:
        rtf.data.ReadError: If a file is not there, or has something that is no tree.
    """
    if settings.data is None:
        number, depths = GENERATED[split]
        seed = settings.seed + list(GENERATED).index(split)
        trees = expressions.generate_expressions(number, depths, seed)
        classes = expressions.NUM_CLASSES
    else:
        file = pathlib.Path(settings.data) / f"{split}.txt"
        trees = rtf.data.read_sst(file).load()
        classes = TREEBANK_CLASSES
    trees = trees[: settings.limit_trees]
    return trees if settings.labels == "all" else without_neutral(trees, classes)
