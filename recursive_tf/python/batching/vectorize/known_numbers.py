"""The numbers of a block's program: what else is in a form of it may count rows.

A prime stands for the number of rows while a block is compiled. That it does not matter
is checked with a second one: what is made of both must be alike. That costs as much as
the rest, and is left out where the first shows it alone: where each number in what was
made is one of the program's, or too small to come of the prime; and where no number of
the program's is large enough to be taken for the prime.
"""

from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.graphs.draft import Draft
from recursive_tf.python.tf_compat import AttrValue

# Below are axes, paddings, factors: no share of a prime of 16 bits that anybody takes.
_SMALL = 1024
# Above, two numbers might add up to the prime, or one be it.
_LARGE = 2**15


class KnownNumbers:
    """The numbers of one block.

    Attributes:
        are_all: Whether nobody but the library, which makes numbers of these alone,
            added ops to the block.
    """

    def __init__(self) -> None:
        self.are_all = True
        self._known: set[object] = set()
        self._is_any_large = False

    def add_sizes(self, tensors: Iterable[tf.Tensor]) -> None:
        """Adds the sizes of what the block computes for one activation."""
        for tensor in tensors:
            if tensor.shape.rank:
                self._add(tensor.shape.as_list())

    def add_value(self, value: np.ndarray) -> None:
        """Adds a constant."""
        self._add(value.ravel().tolist())

    def explain(self, drafts: Iterable[Draft]) -> bool:
        """Says whether no number in drafts can come of the number of rows."""
        return (
            self.are_all and not self._is_any_large and all(map(self._explains, drafts))
        )

    def _add(self, numbers: Iterable[object]) -> None:
        for number in numbers:
            self._known.add(number)
            if isinstance(number, int) and abs(number) >= _LARGE:
                self._is_any_large = True

    def _explains(self, draft: Draft) -> bool:
        if draft.type == "Const":
            if draft.value is None:  # A large one is not looked through.
                return False
            numbers = draft.value.ravel().tolist()
        else:
            numbers = [n for attr in draft.attrs.values() for n in _counts_in(attr)]
        return all(_is_small(n) or n in self._known for n in numbers)


def _counts_in(attr: AttrValue) -> Iterable[int]:
    """Returns what may be counts in an attribute."""
    kind = attr.WhichOneof("value")
    if kind == "i":
        return [attr.i]
    if kind == "shape":
        return [dim.size for dim in attr.shape.dim]
    if kind == "list":
        return [
            *attr.list.i,
            *(dim.size for shape in attr.list.shape for dim in shape.dim),
        ]
    return []


def _is_small(number: object) -> bool:
    """Says whether it is a small whole number, or one by such a one, or none at all."""
    if isinstance(number, complex):
        return _is_small(number.real) and _is_small(number.imag)
    if not isinstance(number, int | float):
        return False
    if not np.isfinite(number):
        return True
    if abs(number) >= _SMALL:
        return False
    if number == int(number):
        return True
    by = 1 / number
    return abs(by) < _SMALL and abs(by - round(by)) < 1e-3  # noqa: PLR2004
