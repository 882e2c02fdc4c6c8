"""One step of the walk through a tree: along all edges of a word, and back."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from models.dependency.cells import Cell
from recursive_tf.layers import EDGES, LSTMState


class Found(NamedTuple):
    """What a walk returns of a word and all behind its edges.

    Attributes:
        count: How many words these are.
        left: The memory of this word and of those further out, if it is on the left of
            its head.
    """

    count: tf.Tensor
    left: Any


def follow_edges(
    cell: Cell,
    state: LSTMState,
    word: tf.Tensor,
    side: tf.Tensor,
    exists: tf.Tensor,
    visit: Callable[[int, LSTMState], Found],
) -> Found:
    """Visits what is behind each edge of a word that exists; in a body.

    Edges are independent of each other, but for a `LeftCell` the right one of the left.

    Args:
        cell: Makes the states of the words behind.
        state: Of the word.
        word: Which it is.
        side: On which side of its head it is.
        exists: Which edges there are, bool[4].
        visit: Goes on at the number of an edge, with the state that it makes.
    """
    behind: dict[str, Found] = {}
    for number, edge in enumerate(EDGES):
        left = behind["left"].left if edge == "right" else cell.no_left()

        def go_on(number: int = number, edge: str = edge, left: Any = left) -> Found:
            return visit(number, cell.step(state, word, edge, left))

        behind[edge] = tf.cond(
            exists[number], go_on, lambda: Found(tf.constant(0), cell.no_left())
        )
    count = 1 + sum(found.count for found in behind.values())
    return Found(count, cell.remember(behind["next_left"].left, word, side))
