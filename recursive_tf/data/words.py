"""The words of a plain text."""

import re

# As words stand in a treebank: "don't" is two of them, a comma is one.
_WORDS = re.compile(r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+?(?=n't\b)|\w+|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Returns the words of a text, and its marks, which are words too.

    >>> split_words("It isn't bad.")
    ['It', 'is', "n't", 'bad', '.']
    """
    return _WORDS.findall(text)
