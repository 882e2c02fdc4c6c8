"""What tells a user that one line defines SubGraphs anew, each for a call or two."""

import dataclasses
import threading

from recursive_tf.python import tf_compat
from recursive_tf.python.root_calls.fallback import SILENT, warn_once

# TensorFlow warns of a function that was traced at 5 of its last 6 calls.
_MOST_IN_A_ROW = 5
# What is called so often was worth being compiled.
_CALLS_WORTH_COMPILING = 100


class DefinedHere:
    """The SubGraphs that one line of the user's code defines.

    Thread safety: `compiled` may be called by many threads; `calls` may miss some.

    Attributes:
        calls: How many eager root calls they had.
    """

    def __init__(self, place: str) -> None:
        self.calls = 0
        self._place = place
        self._lock = threading.Lock()
        self._num_compiled = 0
        self._in_a_row = 0

    def newcomer(self) -> "Newcomer":
        """Returns what stands for one that is being defined."""
        return Newcomer(self, self._num_compiled)

    def compiled(self, name: str, num_before: int) -> None:
        """Takes note of one of them, and warns if there are many in a row.

        Those that are all defined before the first of them is called, e.g. the layers
        of a model, are none in a row.

        Args:
            name: Of the SubGraph.
            num_before: How many were compiled when it was defined.
        """
        with self._lock:
            follows = num_before == self._num_compiled
            self._in_a_row = self._in_a_row + 1 if follows else 1
            self._num_compiled += 1
            count = self._num_compiled
            is_many = self._in_a_row > _MOST_IN_A_ROW
        if is_many and self.calls < _CALLS_WORTH_COMPILING * count:
            warn_once(
                ("defined anew", self._place),
                f"SubGraph '{name}' was defined anew at {self._place}, and traced "
                f"anew for an eager call, {count} times. That takes far longer than a "
                "call. Define it once, outside of the loop; or put the whole step in a "
                "tf.function. A function that rtf.subgraph decorates is defined anew "
                "for each new Python value and shape: give it tensors instead. "
                f"{SILENT}.",
            )


@dataclasses.dataclass(frozen=True)
class Newcomer:
    """One SubGraph among those that its line defines.

    Attributes:
        here: The others.
        num_before: How many of them were compiled when it was defined.
    """

    here: DefinedHere
    num_before: int

    def compiled(self, name: str) -> None:
        """Takes note that it was compiled for an eager call; see `DefinedHere`."""
        self.here.compiled(name, self.num_before)


_lock = threading.Lock()
_by_place: dict[str, DefinedHere] = {}


def newcomer() -> Newcomer:
    """Returns what stands for a SubGraph that the user's line now defines."""
    place = tf_compat.place_of_caller()
    with _lock:
        return _by_place.setdefault(place, DefinedHere(place)).newcomer()


def nobody() -> Newcomer:
    """Returns what stands for one that no line of the user's defines."""
    return DefinedHere("").newcomer()
