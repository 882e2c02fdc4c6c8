"""Finds the sources of the core that a C++ file needs, by what it includes.

So a program is linked from these and no others: it is linked sooner, takes less of the
disk, and of a few programs, with a sanitizer, only a part of the core is compiled.
"""

import pathlib
import re
from collections.abc import Sequence

from cc_build import ROOT

INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def needed(path: pathlib.Path, core: Sequence[pathlib.Path]) -> list[pathlib.Path]:
    """Returns the sources of the core that a program of one file links.

    Args:
        path: The file, relative to ROOT as all of these are.
        core: All sources of the core.
    """
    sources = sources_of_headers(core)
    found: set[pathlib.Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += [*included(file), *sources.get(file, ())]
    return [source for source in core if source in found]


def sources_of_headers(
    core: Sequence[pathlib.Path],
) -> dict[pathlib.Path, list[pathlib.Path]]:
    """Returns what defines the things that each header declares.

    This is the source of its name. A source without such a header, e.g. that of one
    set of instructions, defines what headers declare that have no source of their name.
    """
    found: dict[pathlib.Path, list[pathlib.Path]] = {}
    for source in core:
        header = source.with_suffix(".h")
        others = [x for x in included(source) if x.with_suffix(".cc") not in core]
        for each in [header] if (ROOT / header).exists() else others:
            found.setdefault(each, []).append(source)
    return found


def included(path: pathlib.Path) -> list[pathlib.Path]:
    """Returns the project's files that a file includes."""
    names = map(pathlib.Path, INCLUDED.findall((ROOT / path).read_text()))
    return [name for name in names if (ROOT / name).exists()]
