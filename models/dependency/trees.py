"""The dependency trees of a split: of a treebank, converted, or generated."""

import pathlib

import recursive_tf as rtf
from models.dependency.conversion import to_dependencies
from models.dependency.grammar import generate_sentences
from models.dependency.settings import DependencySettings
from recursive_tf.data import Forest

GENERATED = {"train": 3000, "dev": 500, "test": 500}


def read_trees(settings: DependencySettings, split: str) -> Forest:
    """Returns the trees of "train", "dev" or "test", words as strings.

    A folder has `train.conllu` and so on; or `train.txt`, bracketed trees as the
    Stanford Sentiment Treebank has them, which `models.dependency.conversion` converts.

    Raises:
        rtf.data.ReadError: If a file is not there, or has something that is no tree.
    """
    if settings.data is None:
        number = GENERATED[split]
        number = min(number, settings.limit_trees or number)
        return generate_sentences(number, settings.seed, split)
    brackets = pathlib.Path(settings.data) / f"{split}.txt"
    if brackets.exists():
        return to_dependencies(
            rtf.data.read_sst(brackets).load()[: settings.limit_trees]
        )
    return read_conllu(brackets.with_suffix(".conllu"))[: settings.limit_trees]


def read_conllu(file: pathlib.Path) -> Forest:
    """Returns the trees of a file: words and edges."""
    return rtf.data.read_conllu(file).load().replace(labels=None, features={})
