"""Runs a decorated function as plain Python, so that a debugger can stop in it.

`tf.config.run_functions_eagerly(True)` asks for it: the body is not traced, its calls
are Python calls, its tensors are eager.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.subgraphs.decorator.arguments import Arguments
from recursive_tf.python.subgraphs.decorator.decorated_function import DecoratedFunction
from recursive_tf.python.subgraphs.decorator.plain_memo import PlainMemo
from recursive_tf.python.subgraphs.decorator.pushed_rows import PushedRows


class _Running(threading.local):
    """What the root call of this thread collects."""

    def __init__(self) -> None:
        self.pushed: PushedRows | None = None
        self.memo = PlainMemo()


_running = _Running()


def is_wanted() -> bool:
    """Says whether calls here run as plain Python."""
    return bool(tf.executing_eagerly() and tf.config.functions_run_eagerly())


def call(
    function: DecoratedFunction,
    arguments: Arguments,
    *,
    mapped: bool,
    with_pushed: bool,
) -> Any:
    """Calls a function, or calls it for each row, like its SubGraph.

    Raises:
        SubGraphError: If it is mapped over nothing, or asks within a call for what was
            pushed.
    """
    if with_pushed and _running.pushed is not None:
        raise SubGraphError(
            f"with_pushed=True in a call to SubGraph '{function.name}' inside of a "
            "body: only a root call gathers what all its invocations push."
        )
    run = _map if mapped else _call
    with _root_call() as pushed:
        outputs = run(function, arguments)
        return (outputs, pushed.tables()) if with_pushed else outputs


def push(name: str, value: Any, index: Any, size: Any) -> bool:
    """Keeps a value for the root call, if that runs as plain Python."""
    if _running.pushed is None or not tf.executing_eagerly():
        return False
    _running.pushed.add(name, tf.convert_to_tensor(value), int(index), int(size))
    return True


@contextlib.contextmanager
def _root_call() -> Iterator[PushedRows]:
    """Collects what is pushed; a call within another leaves that to the other."""
    if _running.pushed is not None:
        yield _running.pushed
        return
    _running.pushed = PushedRows()
    _running.memo = PlainMemo()
    try:
        yield _running.pushed
    finally:
        _running.pushed = None
        _running.memo = PlainMemo()


def _call(function: DecoratedFunction, arguments: Arguments) -> Any:
    return _invoke(function, arguments, arguments.tensors)


def _map(function: DecoratedFunction, arguments: Arguments) -> Any:
    rows = list(zip(*map(tf.unstack, arguments.tensors), strict=True))
    if not rows:
        raise SubGraphError(
            f"`.map` of SubGraph '{function.name}' over no rows, run as plain Python: "
            "nothing shows what it returns. Turn tf.config.run_functions_eagerly off."
        )
    results = [_invoke(function, arguments, row) for row in rows]
    return tf.nest.map_structure(_stacked, *results)


def _stacked(*rows: Any) -> Any:
    return None if rows[0] is None else tf.stack(rows)


def _invoke(function: DecoratedFunction, arguments: Arguments, tensors: Any) -> Any:
    values = arguments.values(tensors)

    def run() -> Any:
        return function.outputs.convert(function.call_as_it_is(values))

    if not function.is_memoized:
        return run()
    key = int(function.key_of(values))
    return _running.memo.shared(function, arguments.pattern, key, run)
