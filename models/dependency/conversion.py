"""Dependency trees from binary constituency trees whose nodes have no categories.

The trees of the Stanford Sentiment Treebank say which words go together, and not which
of two parts is the head. A rule of thumb says that here, by closed classes of English
words, in the spirit of Collins's head table (1999), which needs categories. Of a left
and a right part, the head is

1. the other one, if one is punctuation;
2. the left one, if it is a single word that opens a phrase: a preposition, a
   conjunction that subordinates, a form of "be", "have" or "do", or a modal verb;
3. the left one, if the head of the right one opens a phrase that is added to it: a
   preposition or a conjunction that subordinates;
4. else the right one.

The head of the other part depends on the word that is the head of this one. The trees
are projective, and no linguist's: good enough to learn from and to measure with, not to
be compared with a treebank of dependencies.
"""

import tensorflow as tf

from models.dependency.building import forest_of_heads
from models.dependency.edges import NONE
from recursive_tf.data import Forest

_ADDS = """
    about above across after against along although among around as at because before
    behind below between beyond but by despite during except for from if in inside into
    like near of off on onto out over since so than that though through throughout to
    toward under unless until upon when where whether which while who whom whose with
    within without
"""
_VERBS = """
    am are be been being is was were 's 're 'm has have had having 've does do did can
    could may might must shall should will would ca wo 'll 'd
"""
# Words that open a phrase which is added to what is before it, or any phrase.
ADDS = frozenset(_ADDS.split())
OPENS = ADDS | frozenset(_VERBS.split())


def to_dependencies(forest: Forest) -> Forest:
    """Returns a dependency tree for each binary tree, words in the same order.

    Labels and features are left out.
    """
    sentences = _Sentences(forest)
    for root in forest.roots.numpy().tolist():
        sentences.add(root)
    return forest_of_heads(
        tf.gather(forest.tokens, sentences.leaves), sentences.heads, sentences.sizes
    )


class _Sentences:
    """Words of trees that were added, with their heads.

    Attributes:
        leaves: The node of each word, in the order of the sentences.
        heads: The place among `leaves` of each word's head.
        sizes: The number of words of each tree.
    """

    def __init__(self, forest: Forest) -> None:
        self._left = forest.left.numpy().tolist()
        self._right = forest.right.numpy().tolist()
        self._words = [word.decode().lower() for word in forest.tokens.numpy()]
        self.leaves: list[int] = []
        self.heads: list[int] = []
        self.sizes: list[int] = []

    def add(self, root: int) -> None:
        """Adds a tree."""
        before = len(self.leaves)
        head_of = {}
        order = self._parts_first(root)
        for node in order:
            if self._left[node] < 0:
                head_of[node] = len(self.leaves)
                self.leaves.append(node)
                self.heads.append(NONE)
            else:
                left, right = self._left[node], self._right[node]
                head, other = head_of[left], head_of[right]
                if not self._left_is_head(left, head, other):
                    head, other = other, head
                self.heads[other] = head
                head_of[node] = head
        self.sizes.append(len(self.leaves) - before)

    def _parts_first(self, root: int) -> list[int]:
        """Returns a tree's nodes, parts before the whole, from left to right."""
        order, stack = [], [root]
        while stack:
            node = stack.pop()
            order.append(node)
            if self._left[node] >= 0:
                stack += [self._left[node], self._right[node]]
        return order[::-1]

    def _left_is_head(self, left: int, left_head: int, right_head: int) -> bool:
        """Says whether the left part is the head; heads are places."""
        word, other = (
            self._words[self.leaves[head]] for head in (left_head, right_head)
        )
        if _is_punctuation(other):
            return True
        if _is_punctuation(word):
            return False
        is_single = self._left[left] < 0
        return (is_single and word in OPENS) or other in ADDS


def _is_punctuation(word: str) -> bool:
    return not any(letter.isalnum() for letter in word)
