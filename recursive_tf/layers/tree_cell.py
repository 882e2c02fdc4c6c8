"""What the cells that `TreeEncoder` runs share: which children and inputs they take."""

from __future__ import annotations

from typing import Any

from recursive_tf.layers.cell import Cell


class TreeCell(Cell):
    """A cell of `TreeEncoder`, with two children and x at leaves if it says no more.

    See `TreeEncoder` for what a cell may say. Where a node has any number of children,
    `recurrent_dropout` hides the same parts of the h of each.
    """

    num_children: int | None = 2
    may_miss_children = False
    inputs_at = "leaves"

    def _mask_of_h(self) -> tuple[int, ...] | None:
        # A mask for each of any number of children could not be drawn in lock step.
        return (1, self.units) if self.num_children is None else None


def size_of_x(shape: Any) -> int:
    """Returns the length of x.

    Raises:
        ValueError: If x is no vector of known length.
    """
    shape = tuple(shape)
    if len(shape) != 1 or shape[0] is None:
        raise ValueError(
            f"A node must take a vector of known length. Got the shape {shape}: give "
            "the TreeEncoder an embedding, or call it with inputs, [num_nodes, size]."
        )
    return int(shape[0])
