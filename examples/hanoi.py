"""The towers of Hanoi: the moves in order, although calls run in any order.

A call for n disks makes 2^n - 1 moves, so it knows the number of its own move without
waiting for the calls before it. All calls for as many disks run at once, and push their
moves to the rows of one table.

    python -m examples.hanoi
"""

import tensorflow as tf

import recursive_tf as rtf


def moves(num_disks: int) -> tf.Tensor:
    """Returns the moves that take a tower from peg 0 to peg 2: int32[moves, 2]."""
    _, pushed = define(num_disks)(num_disks, 0, 1, 2, 0, with_pushed=True)
    return pushed["moves"]


def define(max_disks: int) -> rtf.SubGraphFunction:
    """Returns what moves a tower of so many disks."""

    @rtf.subgraph
    def hanoi(disks, source, spare, target, first):
        """Moves a tower with moves from number `first` on; returns how many."""
        if disks == 0:
            return 0
        before = hanoi(disks - 1, source, target, spare, first)
        middle = first + tf.bitwise.left_shift(1, disks - 1) - 1
        move = tf.stack([source, target])
        hanoi.push("moves", move, index=middle, size=2**max_disks - 1)
        after = hanoi(disks - 1, spare, source, target, middle + 1)
        return before + 1 + after

    return hanoi


def main() -> None:
    """Prints the moves of three disks, and how many twelve need."""
    for source, target in moves(3).numpy():
        print(f"move the top disk of peg {source} to peg {target}")
    print(f"A tower of 12 disks takes {len(moves(12))} moves.")


if __name__ == "__main__":
    main()
