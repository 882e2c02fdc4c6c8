"""Finds the files of a data set below a folder."""

import itertools
import pathlib
import re

from recursive_tf.data.errors import ForestError
from recursive_tf.data.sets.known import KnownSet

_ALTERNATIVES = re.compile(r"\{([^{}]*)\}")


def find_files(
    known: KnownSet, name: str, part: str | None, folder: pathlib.Path
) -> dict[str, list[pathlib.Path]]:
    """Returns the files of each split that is there.

    Args:
        known: The data set.
        name: Of it. Its files are looked for in a folder of this name first.
        part: What the user says after a slash, e.g. a treebank.
        folder: Where to look.

    Raises:
        ForestError: If it has several parts, and none is said.
    """
    for place in (folder / name, folder):
        found = {}
        for split, patterns in known.splits.items():
            files = _first_that_fits(patterns, part, place)
            if files:
                found[split] = files
        if found:
            return found
    return {}


def _first_that_fits(
    patterns: tuple[str, ...], part: str | None, folder: pathlib.Path
) -> list[pathlib.Path]:
    for pattern in patterns:
        has_part = "{part}" in pattern
        if part is not None and not has_part:
            continue
        filled = pattern.replace("{part}", part or "*")
        files = [
            file
            for one in _expanded(filled)
            for file in sorted({*folder.glob(one), *folder.glob(f"{one}.gz")})
        ]
        if has_part and part is None and len(files) > 1:
            parts = sorted({file.name.partition("-ud-")[0] for file in files})
            raise ForestError(
                f"{folder} has several treebanks. Say which, e.g. "
                f'rtf.data.load("ud/{parts[0]}"); there are {", ".join(parts)}.'
            )
        if files:
            return files
    return []


def _expanded(pattern: str) -> list[str]:
    """Returns what a pattern stands for.

    >>> _expanded("{neg,pos}/*.txt")
    ['neg/*.txt', 'pos/*.txt']
    """
    pieces = _ALTERNATIVES.split(pattern)
    # Every second piece is a list of alternatives.
    choices = [p.split(",") if i % 2 else [p] for i, p in enumerate(pieces)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]
