"""What the last runs of a program reported; more of it while somebody watches."""

import dataclasses
import weakref

import tensorflow as tf

from recursive_tf.ops import library

_PARTS = ("schedule", "gather", "blocks", "deferred")


@dataclasses.dataclass(frozen=True)
class Run:
    """What one run did: a forward pass, or a backward one.

    Attributes:
        launches: How often each block was launched.
        rows: For how many activations in all, by block; also those that looked up rows
            without a launch.
        seconds: By what it was spent on.
        bytes_moved: Of rows that were copied.
        peak_bytes: The most that values held at once.
        least_launches: What no policy needs fewer than; None of a backward pass, and
            of a run that nobody watched.
        compiled: How many launches of each block ran as a block program.
        reasons: Why others did not, by block; empty if none did. They are not known of
            a forward pass that nobody watched.
        shared: How many activations of each block got a row that another computed.
        product_seconds: How long each block ran as a block program. There are no
            blocks here, nor in `flops`, of a run that nobody watched.
        flops: How many operations of float32 and of float64 the products of each block
            did meanwhile.
    """

    launches: list[int]
    rows: list[int]
    seconds: dict[str, float]
    bytes_moved: int
    peak_bytes: int
    least_launches: int | None
    compiled: list[int]
    reasons: list[str]
    shared: list[int]
    product_seconds: list[float]
    flops: list[list[int]]


class Watch:
    """Shows the last run of a program, until it is closed or collected.

    Each program that is loaded keeps what its last run counted anyway. While somebody
    watches, runs count more: see `Run`.

    Args:
        program: The name of its first procedure's function.
    """

    def __init__(self, program: str) -> None:
        self._program = program
        _set_watch(program, True)
        # At the end of the process nothing is left that could run.
        self._end = weakref.finalize(self, _set_watch, program, False)
        self._end.atexit = False

    def close(self) -> None:
        """Ends the watch."""
        self._end()

    def last(self, *, backward: bool) -> Run | None:
        """Returns the last run of a pass, if there was one."""
        if not self._end.alive:
            return None
        with tf.init_scope(), tf.device("CPU:0"):
            report = library.recursive_report(program=self._program, backward=backward)
        seconds = report.seconds.numpy().tolist()
        if not any(seconds):
            return None
        bytes_moved, peak_bytes, least_launches = report.counts.numpy().tolist()
        return Run(
            launches=report.launches.numpy().tolist(),
            rows=report.rows.numpy().tolist(),
            seconds=dict(zip(_PARTS, seconds, strict=True)),
            bytes_moved=bytes_moved,
            peak_bytes=peak_bytes,
            least_launches=None if least_launches < 0 else least_launches,
            compiled=report.compiled.numpy().tolist(),
            reasons=[reason.decode() for reason in report.reasons.numpy()],
            shared=report.shared.numpy().tolist(),
            product_seconds=report.product_seconds.numpy().tolist(),
            flops=report.flops.numpy().tolist(),
        )


def _set_watch(program: str, watch: bool) -> None:
    # Eagerly, wherever that is: the garbage collector may be who calls.
    with tf.init_scope(), tf.device("CPU:0"):
        library.recursive_watch(program=program, watch=watch)
