"""The data sets that have a name: their files, their readers, and where to get them."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from recursive_tf.data.forest import Forest
from recursive_tf.data.joining import concat
from recursive_tf.data.readers import (
    read_conllu,
    read_lattices,
    read_ptb,
    read_reviews,
    read_sst,
)
from recursive_tf.data.readers.reader import Files


@dataclasses.dataclass(frozen=True)
class KnownSet:
    """A data set.

    Attributes:
        splits: By name, patterns of its files below a folder. The first pattern that
            something fits holds. `{part}` stands for what the user says after a slash.
        read: Returns the trees of a split of its files.
        get: Where to get it.
        run: The command that unpacks it, into a folder `{folder}`.
        prepared: Its name in tensorflow-datasets, if that has its trees.
    """

    splits: Mapping[str, tuple[str, ...]]
    read: Callable[..., Forest]
    get: str
    run: str
    prepared: str | None = None


def _splits(*patterns: str) -> dict[str, tuple[str, ...]]:
    return {
        split: tuple(pattern.replace("{split}", split) for pattern in patterns)
        for split in ("train", "dev", "test")
    }


def _loader(reader: Callable[..., Any]) -> Callable[..., Forest]:
    def load(files: Files, **choices: Any) -> Forest:
        forest: Forest = reader(files, **choices).load()
        return forest

    return load


def _sections(*numbers: int) -> tuple[str, ...]:
    """Returns patterns of sections of the Wall Street Journal, all in each pattern."""
    section = f"wsj/{{{','.join(f'{number:02}' for number in numbers)}}}/*.mrg"
    return section, f"parsed/mrg/{section}", f"treebank_3/parsed/mrg/{section}"


def _load_reviews(files: Any, **choices: Any) -> Forest:
    """Reads files of many reviews, or those of one review each, negative ones first."""
    by_label: dict[int | None, list[Any]] = {}
    labels = {"neg": 0, "pos": 1}
    for file in files:
        by_label.setdefault(labels.get(file.parent.name), []).append(file)
    return concat(
        [
            read_reviews(some, label=label, **choices).load()
            for label, some in by_label.items()
        ]
    )


_CONLLU = "{part}-ud-{split}.conllu"
SETS = {
    "sst": KnownSet(
        splits=_splits("{split}.txt", "trees/{split}.txt"),
        read=_loader(read_sst),
        get="https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
        run="unzip trainDevTestTrees_PTB.zip -d {folder}",
    ),
    "imdb": KnownSet(
        splits={
            "train": ("train.tsv", "aclImdb/train/{neg,pos}/*.txt"),
            "dev": ("dev.tsv",),
            "test": ("test.tsv", "aclImdb/test/{neg,pos}/*.txt"),
        },
        read=_load_reviews,
        get="https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
        run="mkdir -p {folder} && tar xf aclImdb_v1.tar.gz -C {folder}",
        prepared="imdb_reviews/plain_text",
    ),
    "ud": KnownSet(
        splits=_splits(
            "{split}.conllu",
            _CONLLU,
            f"UD_*/{_CONLLU}",
            f"ud-treebanks-*/UD_*/{_CONLLU}",
        ),
        read=_loader(read_conllu),
        get="a treebank of https://universaldependencies.org",
        run="git clone https://github.com/UniversalDependencies/UD_English-EWT "
        "{folder}/UD_English-EWT",
        prepared="universal_dependencies/{part}",
    ),
    "ptb": KnownSet(
        # The sections that parsers are trained and measured on (Collins, 1997).
        splits={
            "train": ("train.mrg", *_sections(*range(2, 22))),
            "dev": ("dev.mrg", *_sections(22)),
            "test": ("test.mrg", *_sections(23)),
        },
        read=_loader(read_ptb),
        get="https://catalog.ldc.upenn.edu/LDC99T42",
        run="mkdir -p {folder} && tar xf treebank_3_LDC99T42.tgz -C {folder}",
    ),
    "lattice": KnownSet(
        splits=_splits("{split}.txt", "ED-Batch/benchmark/data/lattice/{split}.txt"),
        read=_loader(read_lattices),
        get="the benchmarks of ED-Batch",
        run="git clone https://github.com/gulang2019/ED-Batch {folder}/ED-Batch",
    ),
}
