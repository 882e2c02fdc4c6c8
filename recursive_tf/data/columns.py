"""What each node of some trees has, and the tensors that it becomes."""

from __future__ import annotations

import dataclasses
import functools
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.tree import MISSING, Tree

ABSENT = {str: tf.string, int: tf.int32, float: tf.float32, bool: tf.bool}


@dataclasses.dataclass(frozen=True)
class Columns:
    """The dtypes of tokens, labels and features, and whether nodes have two children.

    Attributes:
        tokens: A dtype, e.g. `tf.string`.
        labels: A dtype, or None for no labels.
        features: Dtypes by name.
        binary: Whether a node has a left and a right child, or else a list of them.
    """

    tokens: tf.DType
    labels: tf.DType | None
    features: Mapping[str, tf.DType]
    binary: bool

    @classmethod
    def of(cls, trees: Sequence[Tree], binary: bool) -> Columns:
        """Returns what some trees have.

        Raises:
            ForestError: If nodes differ in the type of something.
        """
        names = dict.fromkeys(chain.from_iterable(tree.features for tree in trees))
        labels = list(chain.from_iterable(tree.labels for tree in trees))
        has_labels = any(label is not None for label in labels)
        return cls(
            _dtype_of(chain.from_iterable(tree.tokens for tree in trees), "tokens"),
            _dtype_of(labels, "labels") if has_labels else None,
            {
                name: _dtype_of(
                    chain.from_iterable(_feature(tree, name) for tree in trees), name
                )
                for name in names
            },
            binary,
        )

    def check(self, tree: Tree) -> None:
        """Raises a ForestError unless a tree has what is said here."""
        _check(tree.tokens, self.tokens, "token")
        if self.labels is not None:
            _check(tree.labels, self.labels, "label")
        for name, dtype in self.features.items():
            _check(_feature(tree, name), dtype, name)
        for children in tree.children if self.binary else ():
            if len(children) not in (0, 2):
                raise ForestError(
                    f"a node has {len(children)} children, where every node must have "
                    "none or two. Say binary=False for nodes with any number"
                )

    def tensors(self, trees: Sequence[Tree]) -> dict[str, Any]:
        """Returns tokens, labels and features of all nodes, for `Forest`.

        Raises:
            ForestError: If a number is too large for its dtype.
        """
        labels = None
        if self.labels is not None:
            labels = _tensor((tree.labels for tree in trees), self.labels, "label")
        return {
            "tokens": _tensor((tree.tokens for tree in trees), self.tokens, "token"),
            "labels": labels,
            "features": {
                name: _tensor((_feature(tree, name) for tree in trees), dtype, name)
                for name, dtype in self.features.items()
            },
        }


# Binary trees of integers.
INTEGERS = Columns(tf.int32, tf.int32, {}, binary=True)


def missing(dtype: tf.DType) -> Any:
    """Returns what stands where a node has no such value: `""`, -1, NaN or False."""
    if dtype == tf.string:
        return MISSING[str]
    if dtype == tf.bool:
        return False
    return MISSING[int if dtype.is_integer else float]


def _feature(tree: Tree, name: str) -> Sequence[Any]:
    return tree.features.get(name, [None] * len(tree))


def _dtype_of(values: Iterable[Any], name: str) -> tf.DType:
    given = {type(value) for value in values} - {type(None)}
    if given == {str, bytes}:
        given = {str}
    if given == {int, float}:
        given = {float}
    if len(given) > 1:
        types = ", ".join(sorted(type_.__name__ for type_ in given))
        raise ForestError(f"{name} must be of one type in all nodes. Got {types}.")
    type_ = given.pop() if given else int
    try:
        return tf.string if type_ is bytes else tf.as_dtype(ABSENT.get(type_, type_))
    except TypeError:
        raise ForestError(
            f"{name} must be one string or number of each node. Got {type_.__name__}. "
            "What is a vector of each node comes after: forest.replace(labels=..., "
            "features={...}), with a row for each node."
        ) from None


def _tensor(columns: Iterable[Iterable[Any]], dtype: tf.DType, what: str) -> tf.Tensor:
    absent = missing(dtype)
    values = list(chain.from_iterable(columns))
    if dtype.is_integer:  # TensorFlow takes what remains in as many bits.
        _check_size([v for v in values if v is not None], dtype, what)
    return tf.convert_to_tensor([absent if v is None else v for v in values], dtype)


def _check(values: Iterable[Any], dtype: tf.DType, what: str) -> None:
    given = [value for value in values if value is not None]
    types = _types(dtype)
    if not set(map(type, given)) <= types:
        wrong = next(value for value in given if type(value) not in types)
        raise ForestError(f"the {what} {reprlib.repr(wrong)} is not {dtype.name}")
    if dtype == tf.string:
        _check_text([value for value in given if isinstance(value, str)], what)
    elif integers := [value for value in given if type(value) is int]:
        _check_size(integers, dtype, what)


def _check_size(integers: Sequence[int], dtype: tf.DType, what: str) -> None:
    largest = max(integers, key=abs, default=0)
    least, most = _limits(dtype)
    if not least <= largest <= most:
        number = reprlib.repr(largest)
        raise ForestError(f"the {what} {number} is too large for {dtype.name}")


@functools.cache
def _types(dtype: tf.DType) -> set[type]:
    """Returns what may stand in a tree for a dtype; bool is no number."""
    if dtype == tf.string:
        return {str, bytes}
    if dtype == tf.bool:
        return {bool}
    return {int} if dtype.is_integer else {int, float}


@functools.cache
def _limits(dtype: tf.DType) -> tuple[float, float]:
    """Returns the least and the greatest number, for Python's own comparisons."""
    number = int if dtype.is_integer else float
    return number(dtype.real_dtype.min), number(dtype.real_dtype.max)


def _check_text(values: Sequence[str], what: str) -> None:
    text = "".join(values)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        wrong = text[error.start]
        raise ForestError(f"the {what} with {wrong!r} is no Unicode text") from None
