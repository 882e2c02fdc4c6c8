"""Numbers that stand for counts while a block is compiled.

Each is a large prime: shapes then are static, so that nothing computes with shapes, and
a prime is seen wherever it goes.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

# How many rows there are. A block is compiled with either.
NUMBERS_OF_ROWS = (65519, 65521)


def number_of_items(num_rows: int, index: int) -> int:
    """Returns what stands for the number of all items of the lists of an axis.

    Args:
        num_rows: What stands for the number of rows.
        index: Of the axis, within the block.
    """
    number = num_rows
    for _ in range(index + 1):
        number -= 2
        while not _is_prime(number):
            number -= 2
    return number


def _is_prime(odd: int) -> bool:
    return all(odd % divisor for divisor in range(3, int(odd**0.5) + 1, 2))


class Counts:
    """Tells what is a count in shapes and numbers.

    Attributes:
        primes: What stands for counts: of rows, and then of items.
    """

    def __init__(self, primes: Sequence[int]) -> None:
        self.primes = list(primes)

    def prime_in(self, number: int | None) -> int | None:
        """Returns of which count a number is a multiple, if it is."""
        if not number:
            return None
        return next((prime for prime in self.primes if number % prime == 0), None)

    def are_in(self, numbers: object) -> npt.NDArray[np.bool_]:
        """Says of each number whether it is a multiple of a count."""
        numbers = np.asarray(0 if numbers is None else numbers)
        found = [np.logical_and(numbers != 0, numbers % p == 0) for p in self.primes]
        hits: npt.NDArray[np.bool_] = np.logical_or.reduce(found)
        return hits
