"""Quicksort's partition tree: every call pushes what it found out to one table.

The first of some numbers splits the rest into less and greater ones, which are split
in turn. A call pushes what its two calls return: the children of its pivot. The tree is
the binary search tree of the numbers, and its arrays `left` and `right` are those that
models on trees take. Groups are of any size, so the dataflow executor runs it.

    python -m examples.partition_tree
"""

import tensorflow as tf

import recursive_tf as rtf

NOTHING = -1


def partition_tree(numbers: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the children of every number: `left` and `right`, -1 where there is none.

    Args:
        numbers: Different ones, `[n]` with n > 0. The tree's root is number 0.
    """
    places = tf.range(tf.size(numbers))
    _, children = define(numbers)(places, with_pushed=True)
    return children


def define(numbers: tf.Tensor) -> rtf.SubGraphFunction:
    """Returns what splits some of the numbers, given by their places."""
    size = tf.size(numbers)

    @rtf.subgraph(executor="dataflow")
    def split(places: tf.TensorSpec([None], tf.int32)) -> tf.int32:
        if tf.size(places) == 0:
            return NOTHING
        pivot, rest = places[0], places[1:]
        is_less = tf.gather(numbers, rest) < tf.gather(numbers, pivot)
        left = split(tf.boolean_mask(rest, is_less))
        right = split(tf.boolean_mask(rest, ~is_less))
        split.push("left", left, index=pivot, size=size)
        split.push("right", right, index=pivot, size=size)
        return pivot

    return split


def draw(numbers: list[int], children: dict[str, tf.Tensor]) -> str:
    """Returns a tree as a text: greater numbers above, children to the right."""
    left, right = children["left"].numpy(), children["right"].numpy()

    def lines(node: int, indent: str) -> list[str]:
        if node == NOTHING:
            return []
        above, below = (lines(c[node], indent + "    ") for c in (right, left))
        return [*above, f"{indent}{numbers[node]}", *below]

    return "\n".join(lines(0, ""))


def main() -> None:
    """Draws the tree of nine numbers."""
    numbers = [50, 20, 70, 10, 60, 30, 90, 40, 80]
    children = partition_tree(tf.constant(numbers))
    print("numbers:", numbers)
    print("left:   ", children["left"].numpy().tolist())
    print("right:  ", children["right"].numpy().tolist())
    print(draw(numbers, children))


if __name__ == "__main__":
    main()
