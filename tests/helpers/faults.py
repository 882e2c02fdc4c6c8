"""Faults that tests plant in the library, and a census of what these leave."""

import contextlib
import gc
import time

from recursive_tf.ops import library

KINDS = (
    *("activation", "launch", "allocation", "cache put", "cache get"),
    *("gradient", "deferred"),
)
LIVING = ("runs", "calls", "activations", "records", "cache entries", "kept tensors")
SECONDS_TO_END = 30  # For threads that still hold what has ended.


class Planted:
    """A fault of one kind.

    Attributes:
        happened: How many of its kind there were, once the context has ended.
    """

    def __init__(self, nth):
        self._nth = nth
        self.happened = 0

    @property
    def struck(self):
        return 0 < self._nth <= self.happened


@contextlib.contextmanager
def planted(kind, nth):
    """Lets what would happen for the n-th time fail; of 0, only counts."""
    fault = Planted(nth)
    library.recursive_faults(kind=kind, nth=nth)
    try:
        yield fault
    finally:
        fault.happened = int(library.recursive_faults(kind="", nth=0))


def count(kind, step):
    """Returns how often something of a kind happens in a step."""
    with planted(kind, 0) as fault:
        step()
    return fault.happened


@contextlib.contextmanager
def counted():
    """Counts what root calls are made of, of those that begin in the context."""
    library.recursive_census(is_on=True)
    try:
        yield
    finally:
        library.recursive_census(is_on=False)


def living():
    """Returns what is alive of the root calls that are counted, without zeros."""
    counts = library.recursive_census(is_on=True).numpy().tolist()
    named = zip(LIVING, counts, strict=True)
    return {name: alive for name, alive in named if alive}


def assert_nothing_lives():
    """Waits for threads that have yet to let go of a step that has ended."""
    end = time.monotonic() + SECONDS_TO_END
    while living() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.001)
    assert living() == {}
