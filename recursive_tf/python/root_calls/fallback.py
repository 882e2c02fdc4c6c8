"""What tells a user that `executor="auto"` did not take the batched executor."""

import contextlib
import logging
import os
import threading
from collections.abc import Hashable, Iterator

from recursive_tf.python.batching.refusal import CannotBatchError, FaultError

# Set to "0", it silences every warning of this module.
VARIABLE = "RTF_WARN_FALLBACK"
SILENT = f"{VARIABLE}=0 silences this"

_logger = logging.getLogger("recursive_tf")
_lock = threading.Lock()
_warned: set[Hashable] = set()
# Of tests, which must know of each fallback, also of one that was told before.
_observers: list[list[str]] = []


def fell_back(what: str, error: CannotBatchError) -> None:
    """Warns that the dataflow executor takes what `auto` would rather have batched.

    It warns once for what a program's line of code makes, however often the SubGraph
    around it is defined or called. Of a fault of the library it shows the traceback.

    Args:
        what: E.g. "SubGraph 'walk'", or "The gradient of SubGraph 'walk'".
        error: Which op stands in the way, and what to do about it.
    """
    with _lock:
        for observer in _observers:
            observer.append(f"{what}: {error}")
    warn_once(
        ("fallback", what, error.place, error.reason),
        f"{what} falls back to the dataflow executor, since it cannot be batched: "
        f'{error} {SILENT}; so does executor="dataflow".',
        error.__cause__ if isinstance(error, FaultError) else None,
    )


def warn_once(key: Hashable, message: str, raised: BaseException | None = None) -> None:
    """Logs a warning the first time that `key` is given in this process.

    The logger is "recursive_tf"; without a handler it writes to stderr.

    Args:
        key: What the warning is about.
        message: What happened, where, and what to do about it.
        raised: An error whose traceback is shown.
    """
    if os.environ.get(VARIABLE) == "0":
        return
    with _lock:
        is_new = key not in _warned
        _warned.add(key)
    if is_new:
        _logger.warning("%s", message, exc_info=raised)


@contextlib.contextmanager
def observe() -> Iterator[list[str]]:
    """Gives a list to which each fallback is added while the context lasts."""
    seen: list[str] = []
    with _lock:
        _observers.append(seen)
    try:
        yield seen
    finally:
        with _lock:
            _observers[:] = [other for other in _observers if other is not seen]
