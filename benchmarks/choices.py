"""Values of a command line that are names of something."""

import argparse
from collections.abc import Callable, Iterable


def names_of(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Returns what reads names with commas between, as `type=` of an argument.

    >>> names_of(["a", "b", "c"])("a,c")
    ['a', 'c']
    """
    known = [*known]

    def parse_names(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(
                    f"there is no {name!r}; there are {', '.join(known)}"
                )
        return names

    return parse_names
