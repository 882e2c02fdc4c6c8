"""Data sets that tensorflow-datasets has prepared on this machine.

Only files that are there are read: https://www.tensorflow.org/datasets downloads a data
set when its builder is made and prepared, and neither is done here.
"""

import ast
import importlib
import importlib.util
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.sets.known import KnownSet

_MODULE = "tensorflow_datasets"
_INFO = "dataset_info.json"


def is_installed() -> bool:
    """Says whether tensorflow-datasets is."""
    return importlib.util.find_spec(_MODULE) is not None


def find_prepared(name: str, part: str | None, data_dir: Any) -> pathlib.Path | None:
    """Returns the folder of the newest version of a data set, if there is one.

    Args:
        name: In tensorflow-datasets, e.g. "universal_dependencies/{part}".
        part: What stands for `{part}`.
        data_dir: Where to look, or None for where tensorflow-datasets does.

    Raises:
        ForestError: If there are several, because no part is said.
    """
    place = data_dir or os.environ.get("TFDS_DATA_DIR", "~/tensorflow_datasets")
    folder = pathlib.Path(place).expanduser()
    pattern = f"{name.replace('{part}', part or '*')}/*/{_INFO}"
    versions = sorted((path.parent for path in folder.glob(pattern)), key=_version)
    parts = sorted({path.parent.name for path in versions})
    if len(parts) > 1:
        raise ForestError(
            f"{folder} has several of {name.partition('/')[0]}. Say which, e.g. "
            f'rtf.data.load("ud/{parts[0]}"); there are {", ".join(parts)}.'
        )
    return versions[-1] if versions else None


def _version(path: pathlib.Path) -> list[int]:
    return [int(number) for number in path.name.split(".") if number.isdecimal()]


def splits_of(path: pathlib.Path) -> list[str]:
    """Returns the splits of a data set that have trees."""
    splits = importlib.import_module(_MODULE).builder_from_directory(path).info.splits
    return [split for split in splits if split in ("train", "dev", "test")]


def read_prepared(
    known: KnownSet, path: pathlib.Path, split: str, **choices: Any
) -> Forest:
    """Returns the trees of a split.

    They are written into a file as the data set itself has them, and read from it.

    Args:
        known: The data set.
        path: The folder of it.
        split: E.g. "train".
        **choices: Of the reader.
    """
    builder = importlib.import_module(_MODULE).builder_from_directory(path)
    examples = builder.as_dataset(split=split).as_numpy_iterator()
    features = builder.info.features
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"{builder.info.name}-{split}.txt"
        with file.open("w", encoding="utf-8", newline="\n") as written:
            for example in examples:
                written.write(_text_of(example, features))
        return known.read([file], **choices)


def _text_of(example: Any, features: Any) -> str:
    if "text" in example and "label" in example:
        review = " ".join(example["text"].decode().split())
        return f"{example['label']}\t{review}\n"
    words = _words_of(example, features["upos"].feature.names)
    return "\n".join([*words, "", ""])


def _words_of(sentence: Any, tags: list[str]) -> Iterator[str]:
    """Yields the lines that the words of a sentence have in a file.

    In tensorflow-datasets, what is not there is the text "None". Words without a head
    are those that are several, or are not there.
    """
    number = 0
    for at, head in enumerate(sentence["head"]):
        if head == b"None":
            continue
        number += 1
        token, lemma, xpos, feats, relation = (
            _text(sentence[name][at])
            for name in ("tokens", "lemmas", "xpos", "feats", "deprel")
        )
        tag = tags[sentence["upos"][at]]
        fields = (number, token, lemma, tag, xpos, _features(feats), head.decode())
        yield "\t".join(map(str, (*fields, relation, "_", "_")))


def _text(data: bytes) -> str:
    return "_" if data == b"None" else data.decode()


def _features(text: str) -> str:
    """Returns features as they stand in a file.

    >>> _features("{'Case': 'Nom', 'Number': 'Sing'}")
    'Case=Nom|Number=Sing'
    """
    if not text.startswith("{"):
        return text
    pairs = ast.literal_eval(text)
    return "|".join(f"{name}={value}" for name, value in pairs.items())
