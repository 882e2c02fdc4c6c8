"""Shared invocations of decorated functions that run as plain Python."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.python.subgraphs.decorator.decorated_function import DecoratedFunction
from recursive_tf.python.subgraphs.decorator.pattern import Pattern

_RUNS = object()


class PlainMemo:
    """What invocations with a key returned, within one root call."""

    def __init__(self) -> None:
        # By function and key: what is traced apart shares nothing.
        self._results: dict[tuple[DecoratedFunction, int], list[list[Any]]] = {}

    def shared(
        self,
        function: DecoratedFunction,
        pattern: Pattern,
        key: int,
        run: Callable[[], Any],
    ) -> Any:
        """Returns what an invocation with the key returned, or else what `run` does.

        Raises:
            tf.errors.FailedPreconditionError: If it is asked for while it runs.
        """
        entries = self._results.setdefault((function, key), [])
        for known, result in entries:
            if known.equals(pattern):
                if result is _RUNS:
                    _raise_cycle(function, key)
                return result
        entry = [pattern, _RUNS]
        entries.append(entry)
        entry[1] = run()
        return entry[1]


def _raise_cycle(function: DecoratedFunction, key: int) -> None:
    raise tf.errors.FailedPreconditionError(
        None,
        None,
        f"SubGraph '{function.name}' asks for the key {key} of memo= while it computes "
        "what has that key. What an invocation calls must lead to other keys.",
    )
