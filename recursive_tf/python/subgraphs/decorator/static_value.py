"""A Python value that is a part of what is traced."""

import weakref
from collections.abc import Callable, Hashable
from typing import Any


class StaticValue:
    """A value of a call that is no tensor: a text, a flag, a layer, an object.

    Two are equal if their values are: are one object, or equal and hash alike. What
    can be held weakly is, so that a trace does not keep alive what it was made for;
    a value that died equals nothing.
    """

    def __init__(self, value: Any) -> None:
        self._type = type(value)
        self._references = [_reference(part) for part in _parts(value)]

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StaticValue) or self._type is not other._type:
            return False
        if self.is_dead or other.is_dead:
            return False
        pairs = zip(self._references, other._references, strict=True)
        return all(_are_same(mine(), theirs()) for mine, theirs in pairs)

    def __repr__(self) -> str:
        return ".".join(repr(reference()) for reference in self._references)

    @property
    def is_dead(self) -> bool:
        """Whether the value is no more."""
        return any(
            isinstance(reference, weakref.ref) and reference() is None
            for reference in self._references
        )

    def when_dead(self, act: Callable[..., Any], *args: Any) -> None:
        """Has `act(*args)` called when the value dies, if it is held weakly."""
        for reference in self._references:
            if isinstance(reference, weakref.ref):
                # At the end of the process nothing is left to clean up for.
                weakref.finalize(reference(), act, *args).atexit = False


def _parts(value: Any) -> list[Any]:
    """Returns what a bound method consists of, which itself dies at once."""
    if hasattr(value, "__self__") and hasattr(value, "__func__"):
        return [value.__self__, value.__func__]
    return [value]


def _reference(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:  # Text, numbers, None and the like.
        return lambda: value


def _are_same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    # A variable is not hashable, and compares element by element.
    by_value = isinstance(left, Hashable) and type(left).__hash__ != object.__hash__
    return by_value and type(left) is type(right) and bool(left == right)
