"""Which split an example belongs to: what it says decides, and not a seed."""

import zlib

SPLITS = ("train", "dev", "test")
# As many places as splits have, of all that can be generated.
_PLACES = {"train": range(8), "dev": range(8, 9), "test": range(9, 10)}


def belongs_to(split: str, text: str) -> bool:
    """Returns whether an example with this text belongs to a split.

    Each text belongs to one split alone, whatever the seed of a generator was: what
    one run learns from, no other run is measured on.

    >>> [split for split in SPLITS if belongs_to(split, "every ship sails")]
    ['train']
    """
    return zlib.crc32(text.encode()) % 10 in _PLACES[split]


def is_for_test(text: str) -> bool:
    """Returns whether an example is one to test on: a half of all held-out ones.

    For data whose held-out examples differ from those to learn from already.
    """
    return zlib.crc32(text.encode()) % 2 == 1
