"""Reviews of films as trees: the Large Movie Review data (Maas et al., ACL 2011).

A file has a review a line, `label<TAB>text`, 0 for negative and 1 for positive. Reviews
come without trees and with one label each. As in Jeong et al. (EuroSys 2018, section
6.1), a trained model labels all nodes; the shape of the trees is chosen (section 6.3).
"""

import pathlib
import re

import tensorflow as tf

import recursive_tf as rtf
from models.sentiment.labels import NO_LABEL, without_neutral
from recursive_tf.data import Forest, ReadError, split_words
from recursive_tf.training import RunFolder

BATCH = 64
_TAG = re.compile(r"<[^>]*>")
_END = re.compile(r"(?<=[.!?])\s+")


def is_reviews(folder: pathlib.Path) -> bool:
    """Returns whether a folder has reviews and no trees."""
    return (folder / "train.tsv").exists()


def read_reviews(
    file: pathlib.Path, shape: str, unit: str, limit: int | None, seed: int
) -> Forest:
    """Returns reviews, or their sentences, as binary trees whose roots are labeled.

    Args:
        file: A review a line.
        shape: Of the trees: see `rtf.data.from_words`.
        unit: "review" or "sentence", which has the label of its review.
        limit: The most trees.
        seed: Of shapes that are random.

    Raises:
        ReadError: If there is no such file, or a line is no review.
    """
    labels, texts = [], []
    for label, text in _lines(file):
        text = _TAG.sub(" ", text)
        for part in _END.split(text) if unit == "sentence" else [text]:
            words = split_words(part)
            if words:
                labels.append(label)
                texts.append(words)
        if limit is not None and len(texts) >= limit:
            break
    if not texts:
        raise ReadError(file, 0, 0, "there is no review, 0 or 1, a tab and words.")
    forest = rtf.data.from_words(texts[:limit], shape, seed=seed)
    return _with_roots(forest, tf.constant(labels[:limit]))


def _lines(file: pathlib.Path) -> list[tuple[int, str]]:
    if not file.is_file():
        raise ReadError(file, 0, 0, "there is no such file.")
    found = []
    # Not text: what ends lines of that may stand in a review.
    lines = file.read_bytes().removesuffix(b"\n")
    for number, data in enumerate(lines.split(b"\n") if lines else (), start=1):
        try:
            label, tab, text = data.decode().partition("\t")
        except UnicodeDecodeError as error:
            raise ReadError(file, number, 0, f"it is no UTF-8: {error}.") from None
        if label not in ("0", "1") or not tab or not text.strip():
            raise ReadError(file, number, 1, "expected 0 or 1, a tab and a review.")
        found.append((int(label), text))
    return found


def _with_roots(forest: Forest, labels: tf.Tensor) -> Forest:
    """Returns a forest with labels of roots; other nodes keep theirs, or have none."""
    others = forest.labels
    if others is None:
        others = tf.fill([forest.num_nodes], NO_LABEL)
    roots = forest.roots[:, tf.newaxis]
    return forest.replace(labels=tf.tensor_scatter_nd_update(others, roots, labels))


def label_nodes(forest: Forest, labeler: pathlib.Path) -> Forest:
    """Returns a forest with labels of nodes by a model; roots keep theirs.

    Args:
        forest: With labels of roots, 0 and 1, and words as strings.
        labeler: The folder of a run on trees with more labels, e.g. a treebank's; a
            node that this takes for neutral gets none.

    Raises:
        ReadError: If there is no model in the folder.
        RunError: If it is damaged.
    """
    run = RunFolder(labeler)
    if not run.best.exists():
        raise ReadError(run.best, 0, 0, "there is no model to label nodes with.")
    model = run.load_best()
    encoded = rtf.data.encode(forest, tokens=run.load_words())
    logits = model.predict(rtf.data.batches(encoded, BATCH), verbose=0)
    labels = tf.argmax(logits, -1, tf.int32)
    labeled = without_neutral(forest.replace(labels=labels), model.classes)
    return _with_roots(labeled, tf.gather(forest.labels, forest.roots))
