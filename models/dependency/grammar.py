"""Dependency trees that need no download: sentences of a small random grammar.

Every sentence has a theme, of which all its nouns, verbs and adjectives are;
determiners, prepositions and "that" are of none. A verb likes some nouns of its theme
better than others. So a word says much of its dependents, but a preposition says little
of the noun below it: that follows from the words above the preposition. Who sees the
whole way from the root guesses better than who sees heads alone.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from models.dependency.building import forest_of_heads
from models.dependency.edges import NONE
from models.running.splits import belongs_to
from recursive_tf.data import Forest


class Theme(NamedTuple):
    """Words that go together; of verbs, the first ones have an object."""

    nouns: Sequence[str]
    verbs: Sequence[str]
    adjectives: Sequence[str]


THEMES = (
    Theme(
        ("cook", "soup", "kitchen", "knife", "bread", "guest", "oven", "plate"),
        ("stirs", "tastes", "burns", "cooks", "waits"),
        ("hot", "fresh", "salty", "hungry"),
    ),
    Theme(
        ("sailor", "ship", "harbour", "wave", "captain", "rope", "storm", "island"),
        ("steers", "ties", "passes", "sinks", "sails"),
        ("wet", "stormy", "distant", "brave"),
    ),
    Theme(
        ("teacher", "pupil", "book", "lesson", "school", "pencil", "desk", "question"),
        ("reads", "asks", "explains", "learns", "listens"),
        ("difficult", "young", "curious", "wooden"),
    ),
    Theme(
        ("singer", "song", "piano", "drum", "stage", "band", "concert", "melody"),
        ("plays", "hears", "writes", "dances", "sings"),
        ("loud", "soft", "famous", "old"),
    ),
    Theme(
        ("farmer", "field", "cow", "tractor", "barn", "horse", "fence", "harvest"),
        ("feeds", "mends", "drives", "grows", "rests"),
        ("green", "muddy", "heavy", "tired"),
    ),
    Theme(
        ("doctor", "patient", "nurse", "ward", "medicine", "bed", "needle", "fever"),
        ("heals", "examines", "visits", "sleeps", "recovers"),
        ("sick", "clean", "painful", "careful"),
    ),
)
TRANSITIVE = 3  # The first verbs of a theme.
DETERMINERS = ("the", "a", "every", "some", "this")
PREPOSITIONS = ("with", "near", "behind", "for", "without")
ADVERBS = ("often", "slowly", "today", "never")


class Word(NamedTuple):
    """A word, and its dependents on either side, the nearest first."""

    text: str
    left: Sequence["Word"] = ()
    right: Sequence["Word"] = ()


def generate_sentences(num_trees: int, seed: int, split: str | None = None) -> Forest:
    """Returns random dependency trees, the same for the same arguments.

    Args:
        num_trees: How many.
        seed: For the random generator.
        split: Leaves out sentences of all other splits (`models.running.splits`).
    """
    rng = random.Random(seed)
    words: list[str] = []
    heads: list[int] = []
    sizes = []
    while len(sizes) < num_trees:
        before = len(words)
        _write(_Speaker(rng).sentence(), words, heads)
        if split is None or belongs_to(split, " ".join(words[before:])):
            sizes.append(len(words) - before)
        else:
            del words[before:], heads[before:]
    return forest_of_heads(words, heads, sizes)


def _write(word: Word, words: list[str], heads: list[int]) -> int:
    """Writes a word and all below it, in order; returns its place."""
    left = [_write(dependent, words, heads) for dependent in reversed(word.left)]
    place = len(words)
    words.append(word.text)
    heads.append(NONE)
    right = [_write(dependent, words, heads) for dependent in word.right]
    for dependent in left + right:
        heads[dependent] = place
    return place


class _Speaker:
    """Makes one sentence, of one theme."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._theme = rng.choice(THEMES)

    def sentence(self) -> Word:
        subject = self._noun(self._rng.randrange(len(self._theme.nouns)))
        adverbs = [Word(self._choose(ADVERBS))] if self._happens(0.3) else []
        return self._verb([*adverbs, subject])

    def _verb(self, left: Sequence[Word]) -> Word:
        number = self._rng.randrange(len(self._theme.verbs))
        right = [self._noun(number)] if number < TRANSITIVE else []
        if self._happens(0.5):
            right.append(self._phrase(number))
        return Word(self._theme.verbs[number], left, right)

    def _noun(self, liked: int) -> Word:
        """Returns a noun: most often the one that is liked, or one soon after it."""
        nouns = self._theme.nouns
        liked_first = [*nouns[liked:], *nouns[:liked]]
        left = [Word(self._choose(DETERMINERS))]
        while self._happens(0.3):
            left.insert(0, Word(self._choose(self._theme.adjectives)))
        right = [self._phrase(liked)] if self._happens(0.25) else []
        if self._happens(0.15):
            right.append(Word("that", right=[self._verb([])]))
        return Word(self._choose(liked_first), left, right)

    def _phrase(self, liked: int) -> Word:
        return Word(self._choose(PREPOSITIONS), right=[self._noun(liked)])

    def _choose(self, words: Sequence[str]) -> str:
        """Returns a word; each is half as frequent as the one before."""
        weights = [0.5**rank for rank in range(len(words))]
        return self._rng.choices(words, weights)[0]

    def _happens(self, share: float) -> bool:
        return self._rng.random() < share
