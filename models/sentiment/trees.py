"""The labeled trees of a split: of a treebank, of reviews, or generated."""

import pathlib

import recursive_tf as rtf
from models.sentiment import expressions
from models.sentiment.labels import without_neutral
from models.sentiment.reviews import is_reviews, label_nodes, read_reviews
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
        return _chosen(_generated(settings, split), expressions.NUM_CLASSES, settings)
    folder = pathlib.Path(settings.data)
    if is_reviews(folder):
        return _reviews(folder / f"{split}.tsv", settings)
    trees = rtf.data.read_sst(folder / f"{split}.txt").load()
    return _chosen(trees, TREEBANK_CLASSES, settings)


def _generated(settings: SentimentSettings, split: str) -> Forest:
    number, depths = GENERATED[split]
    number = min(number, settings.limit_trees or number)  # All of them take a second.
    return expressions.generate_expressions(number, depths, settings.seed, split)


def _reviews(file: pathlib.Path, settings: SentimentSettings) -> Forest:
    trees = read_reviews(
        file, settings.shape, settings.unit, settings.limit_trees, settings.seed
    )
    if settings.labeler is None:
        return trees
    return label_nodes(trees, pathlib.Path(settings.labeler))


def _chosen(trees: Forest, classes: int, settings: SentimentSettings) -> Forest:
    """Returns as many trees, and the labels, that the settings say."""
    trees = trees[: settings.limit_trees]
    return without_neutral(trees, classes) if settings.labels == "binary" else trees
