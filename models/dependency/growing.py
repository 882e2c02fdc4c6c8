"""The recursion that makes trees: each word decides over the calls after it.

Nobody knows beforehand how many words there will be, and they are made in any order. So
that each knows its place without asking the others, a call is given an interval of
places, which it shares out among its own calls, in the order of the sentence. So a tree
never has more words than its first interval has places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

import recursive_tf as rtf
from models.dependency.cells import NO_WORD, state_of_root
from models.dependency.choice import Choice
from models.dependency.edges import MAY_HAVE, ROOT, SIDE_AFTER
from models.dependency.limits import GOES_DOWN, Limits
from models.dependency.prefixes import Prefixes
from models.dependency.walk import follow_edges
from recursive_tf.layers import EDGES

if TYPE_CHECKING:
    from models.dependency.model import DependencyModel

# What is known of a word that was made: columns of `grow`'s result.
COLUMNS = WORD, DEPTH, SIDE, CUT = range(4)


class Interval(NamedTuple):
    """Places for words: so many from `begin` on."""

    begin: tf.Tensor
    places: tf.Tensor


def grow(
    model: DependencyModel,
    prefixes: Prefixes,
    choice: Choice,
    limits: Limits,
    executor: str,
) -> tf.Tensor:
    """Returns a tree for each prefix, int32[num_trees, places, 4].

    A tree's words are in the order of the sentence, with empty places between them,
    which have zeros. A word has which it is, its depth, its side, and how many edges it
    was to have but for limits: `WORD`, `DEPTH`, `SIDE` and `CUT`.
    """
    num_trees = tf.size(prefixes.roots)
    given = tf.gather(prefixes.spans, prefixes.roots)
    places = tf.maximum(given, limits.max_nodes)
    width = tf.reduce_max(places)

    @rtf.subgraph(executor=executor)
    def visit(node, state, side, depth, at):
        word = _word(model, choice, state.h, tf.gather(prefixes.words, node))
        wanted = _edges(model, choice, state.h, word, side)
        to = tf.gather(prefixes.to, node)
        kept = tf.gather(prefixes.spans, to)
        shares, cut = limits.share(at.places, depth, kept, wanted)
        own, begins = _intervals(at.begin, shares)
        row = tf.stack([word, depth, side, cut])
        visit.push("row", row, index=own, size=num_trees * width)

        def go_on(number, after):
            next_side = SIDE_AFTER[EDGES[number]]
            next_depth = depth + int(GOES_DOWN[number])
            next_at = Interval(begins[number], shares[number])
            return visit(to[number], after, next_side, next_depth, next_at)

        return follow_edges(model.cell, state, word, side, shares > 0, go_on)

    @rtf.subgraph(executor=executor)
    def visit_tree(root, at):
        return visit(root, state_of_root(model.cell), ROOT, 0, at).count

    at = Interval(tf.range(num_trees) * width, places)
    _, pushed = visit_tree.map(prefixes.roots, at, with_pushed=True)
    return tf.reshape(pushed["row"], [num_trees, width, len(COLUMNS)])


def _word(
    model: DependencyModel, choice: Choice, h: tf.Tensor, given: tf.Tensor
) -> tf.Tensor:
    """Returns the word that is given, or else one that is chosen."""
    chosen = choice.word(model.word_logits(h[tf.newaxis])[0])
    return tf.where(given == NO_WORD, chosen, given)


def _edges(
    model: DependencyModel,
    choice: Choice,
    h: tf.Tensor,
    word: tf.Tensor,
    side: tf.Tensor,
) -> tf.Tensor:
    """Returns the edges that are chosen of those that a word may have."""
    logits = model.edge_logits(h[tf.newaxis], word[tf.newaxis])[0]
    return tf.logical_and(choice.edges(logits), tf.gather(MAY_HAVE, side))


def _intervals(
    begin: tf.Tensor, shares: tf.Tensor
) -> tuple[tf.Tensor, tuple[tf.Tensor, ...]]:
    """Returns a word's own place, and where the interval of each edge begins."""
    left, right, next_left, _ = tf.unstack(shares)
    own = begin + next_left + left
    return own, (begin + next_left, own + 1, begin, own + 1 + right)
