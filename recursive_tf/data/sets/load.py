"""`rtf.data.load`: a data set by its name."""

import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any, overload

from recursive_tf.data.errors import DataNotFoundError, ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.sets import prepared
from recursive_tf.data.sets.folders import find_files
from recursive_tf.data.sets.known import SETS, KnownSet

VARIABLE = "RECURSIVE_TF_DATA"
Folder = str | os.PathLike[str]


@overload
def load(
    name: str, data_dir: Folder | None = None, *, split: str, **choices: Any
) -> Forest: ...


@overload
def load(
    name: str, data_dir: Folder | None = None, *, split: None = None, **choices: Any
) -> dict[str, Forest]: ...


def load(
    name: str,
    data_dir: Folder | None = None,
    *,
    split: str | None = None,
    **choices: Any,
) -> Forest | dict[str, Forest]:
    """Returns a data set that is on this machine. It downloads nothing.

    | name | what it is | files |
    |---|---|---|
    | `"sst"` | Stanford Sentiment Treebank | `trees/train.txt` or `train.txt`, ... |
    | `"imdb"` | Large Movie Review data | `aclImdb/train/pos/*.txt`, or `train.tsv` |
    | `"ud/en_ewt"` | a treebank of Universal Dependencies | `en_ewt-ud-train.conllu` |
    | `"ud"` | the only one that is there | that, or `train.conllu` |
    | `"ptb"` | Penn Treebank | `wsj/02/*.mrg`, ..., or `train.mrg` |
    | `"lattice"` | ED-Batch's lattices | `train.txt`, `dev.txt` |

    Files are looked for in the folder of the data set's name in `data_dir`, and in
    `data_dir` itself. They may be compressed with gzip. If there is none, and
    tensorflow-datasets is installed and has prepared `imdb_reviews` or
    `universal_dependencies`, "imdb" and "ud" are taken from there.

    Args:
        name: Of the data set.
        data_dir: A folder. Not given: what the environment variable RECURSIVE_TF_DATA
            says.
        split: "train", "dev" or "test".
        **choices: Of the reader, e.g. `on_error="skip"`, or for "imdb"
            `shape="linear"`: see `read_sst`, `read_reviews`, `read_conllu`, `read_ptb`
            and `read_lattices`.

    Returns:
        The trees of the split. Without `split`, a dict of all splits that are there.

    Raises:
        DataNotFoundError: If it is not there; the error says where to get it, and what
            to run.
        ForestError: If there is no such name, or there are several treebanks and the
            name says none.
        ReadError: If a file has something that is no tree.
    """
    kind, _, part = name.partition("/")
    if kind not in SETS or (part and kind != "ud"):
        raise ForestError(
            f"There is no data set {name!r}. Expected one of {[*SETS]}, or a treebank "
            'as "ud/en_ewt". To read other files, see rtf.data.read_sst and its kin.'
        )
    splits = _splits(SETS[kind], kind, part or None, data_dir, choices)
    if split is None:
        return {found: read() for found, read in splits.items()}
    if split not in splits:
        raise DataNotFoundError(
            f"{name!r} has no split {split!r} there. It has {[*splits]}."
        )
    return splits[split]()


def _splits(
    known: KnownSet, name: str, part: str | None, data_dir: Folder | None, choices: Any
) -> dict[str, Callable[[], Forest]]:
    """Returns what reads each split that is there."""
    given = data_dir or os.environ.get(VARIABLE)
    folder = None if given is None else pathlib.Path(given).expanduser()
    if folder is not None:
        found = find_files(known, name, part, folder)
        if found:
            return {
                split: functools.partial(known.read, files, **choices)
                for split, files in found.items()
            }
    if known.prepared and prepared.is_installed():
        path = prepared.find_prepared(known.prepared, part, data_dir)
        if path is not None:
            return {
                split: functools.partial(
                    prepared.read_prepared, known, path, split, **choices
                )
                for split in prepared.splits_of(path)
            }
    raise DataNotFoundError(_how_to_get(known, name, part, folder))


def _how_to_get(
    known: KnownSet, name: str, part: str | None, folder: pathlib.Path | None
) -> str:
    """Returns one sentence that says where to get a data set, and what to run."""
    full = f"{name}/{part}" if part else name
    where = f"in {folder}" if folder else f"here: data_dir= and {VARIABLE} are not set"
    target = folder or "data"
    text = f"There is no data set {full!r} {where}. Get {known.get}, run `"
    text += f"{known.run.replace('{folder}', str(target))}`, and pass "
    text += f'data_dir="{target}"'
    if known.prepared:
        builder = known.prepared.replace("{part}", part or "en_ewt")
        text += f"; or run `pip install tensorflow-datasets && tfds build {builder}`"
    return f"{text}."
