"""What `rtf.explain` returns."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TypeVar

from recursive_tf.python.reports.explained_program import ExplainedProgram
from recursive_tf.python.reports.product_peak import share_of_peak
from recursive_tf.python.reports.watch import Run, Watch

_T = TypeVar("_T")
_NOT_KEPT = "the run was before the explanation; run it again to see why"
# What is launched in the dataflow executor.
_NOTHING = Run([], [], {}, 0, 0, 0, [], [], [], [], [])


class Explanation:
    """How a program runs, and what its last run did; `print` shows all of it.

    What it says of the last run is None before the first run. If the last run was
    before the explanation, all is there but what costs time to count: `lower_bound`,
    `peak` and the reasons of `not_compiled`. An explanation makes its program count
    them, until the explanation is closed or freed. Two explanations of one program see
    the same runs. The dataflow executor launches nothing: then there are no
    blocks, and the numbers are 0.

    Attributes:
        name: Of the SubGraph.
        executor: "batched" or "dataflow".
        reasons: Why it is not batched, with lines of the user's code; else empty.
        program: `program.describe()` says what runs and what is called where, and
            `program.passes()` what each pass of the compiler made of it.

    Args:
        program: The program.
        passes: Whether to print the passes, too.
    """

    def __init__(self, program: ExplainedProgram, *, passes: bool = False) -> None:
        self._prints_passes = passes
        self.name = program.names[0]
        self.executor = program.executor
        self.reasons = list(program.reasons)
        self.program = program
        self._watch = Watch(program.key) if program.executor == "batched" else None

    def close(self) -> None:
        """Ends the counting. After that, it shows no last run."""
        if self._watch is not None:
            self._watch.close()

    @property
    def forward(self) -> Run | None:
        """The last forward pass."""
        return self._last(backward=False)

    @property
    def backward(self) -> Run | None:
        """The last backward pass, if there was one."""
        return self._last(backward=True)

    @property
    def launches(self) -> dict[str, int] | None:
        """How often the last forward pass launched each block."""
        run = self.forward
        return None if run is None else self._by_block(run.launches)

    @property
    def lower_bound(self) -> int | None:
        """A number of launches that no policy can go below.

        It adds up, for each block, the longest chain of activations in which each needs
        the one before it. It is None if the last run was before the explanation.
        Source: ED-Batch (Chen et al. 2023), appendix A.3.
        """
        run = self.forward
        return None if run is None else run.least_launches

    @property
    def rows_per_launch(self) -> dict[str, float] | None:
        """The mean number of activations of a launch, by block.

        Of a block that only looks up rows, without a launch, it is the number of all.
        """
        run = self.forward
        if run is None:
            return None
        pairs = zip(run.rows, run.launches, strict=True)
        return self._by_block([rows / max(count, 1) for rows, count in pairs])

    @property
    def shared(self) -> dict[str, float] | None:
        """The share of activations that took the row of another one, by block."""
        run = self.forward
        if run is None:
            return None
        pairs = zip(run.shared, run.rows, strict=True)
        return self._by_block([shared / max(rows, 1) for shared, rows in pairs])

    @property
    def peak(self) -> dict[str, float] | None:
        """How close the products of each block came to the machine's peak, as a share.

        It is the number of operations of a block's products, forward, backward and
        deferred, divided by the time of all that the block computes, and divided by the
        highest rate of products on all threads. This rate is measured when it is first
        needed. Blocks without products, and blocks that are not compiled, are left out,
        and all blocks if the last run was before the explanation.
        """
        if self.forward is None:
            return None
        runs = self._runs()
        names = self._by_block(range(len(self.forward.launches)))
        shares = {name: share_of_peak(runs, block) for name, block in names.items()}
        return {name: share for name, share in shares.items() if share is not None}

    @property
    def not_compiled(self) -> dict[str, str] | None:
        """Why a block ran as a TensorFlow function in the last passes, by block.

        The other blocks ran as block programs. A block counts as not compiled if its
        gradient is not.
        """
        if self.forward is None:
            return None
        reasons: dict[str, str] = {}
        if self.forward.least_launches is None:
            pairs = zip(self.forward.compiled, self.forward.launches, strict=True)
            is_short = self._by_block([compiled < count for compiled, count in pairs])
            reasons = {block: _NOT_KEPT for block, short in is_short.items() if short}
        for run in reversed(self._runs()):
            named = self._by_block(run.reasons)
            reasons.update({block: why for block, why in named.items() if why})
        return reasons

    @property
    def seconds(self) -> dict[str, dict[str, float]] | None:
        """Where the time of the last passes went: `seconds["forward"]["blocks"]`.

        The parts are "schedule", to follow calls and returns; "gather", to copy rows;
        "blocks"; and "deferred", gradients of captures. "backward" is only there if
        there was a backward pass.
        """
        runs = {"forward": self.forward, "backward": self.backward}
        if runs["forward"] is None:
            return None
        return {name: run.seconds for name, run in runs.items() if run is not None}

    @property
    def bytes_moved(self) -> int | None:
        """The size of all rows that the last passes copied."""
        runs = self._runs()
        return sum(run.bytes_moved for run in runs) if runs else None

    @property
    def peak_bytes(self) -> int | None:
        """The most that values held at once, what is kept for the gradient included."""
        runs = self._runs()
        return max(run.peak_bytes for run in runs) if runs else None

    def __repr__(self) -> str:
        """Returns the explanation as a text of some lines."""
        lines = list(_lines(self))
        if self._prints_passes:
            for name, text in self.program.passes().items():
                lines += [f"{name.capitalize()}:", textwrap.indent(text, "  ")]
        return "\n".join(lines)

    def _last(self, *, backward: bool) -> Run | None:
        if self._watch is None:
            return None if backward else _NOTHING
        return self._watch.last(backward=backward)

    def _runs(self) -> list[Run]:
        return [run for run in (self.forward, self.backward) if run is not None]

    def _by_block(self, values: Sequence[_T]) -> dict[str, _T]:
        names = self.program.block_names if values else []
        return dict(zip(names, values, strict=True))


class Explanations(tuple[Explanation, ...]):
    """Those of the programs of a function with several root calls."""

    __slots__ = ()

    def close(self) -> None:
        """Closes all of them."""
        for explanation in self:
            explanation.close()

    def __repr__(self) -> str:
        """Returns all of them as a text."""
        return "\n\n".join(map(repr, self))


def _lines(explanation: Explanation) -> Iterator[str]:
    program = explanation.program
    policy = f", policy '{program.policy}'" if program.executor == "batched" else ""
    name, executor = explanation.name, explanation.executor
    yield f"SubGraph '{name}' runs in the {executor} executor{policy}."
    yield from (_wrapped(f"Not batched: {r}") for r in explanation.reasons)
    yield "Program:"
    yield textwrap.indent(program.describe(), "  ")
    if executor == "dataflow":
        yield "Nothing is launched: each op of each call runs by itself."
        return
    if explanation.forward is None:
        yield "It did not run yet. Run it, and print this again."
    else:
        yield from _run_lines(explanation, explanation.forward)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 88, subsequent_indent="  ", break_long_words=False)


def _run_lines(explanation: Explanation, forward: Run) -> Iterator[str]:
    backward = explanation.backward
    count, least = sum(forward.launches), forward.least_launches
    bound = "." if least is None else f"; the least that there can be is {least}."
    yield f"Last run: {count} launches{bound}"
    not_compiled, shares = explanation.not_compiled or {}, explanation.peak or {}
    columns = ["launches", "rows each", "shared"]
    columns += [*(["backward"] if backward else []), "compiled", "peak", "block"]
    yield "  " + "  ".join(columns)
    for block, name in enumerate(explanation.program.block_names):
        launches, rows = forward.launches[block], forward.rows[block]
        cells = [f"{launches:8}", f"{rows / max(launches, 1):9.1f}"]
        cells.append(f"{forward.shared[block] / max(rows, 1):6.0%}")
        if backward is not None:
            cells.append(f"{backward.launches[block]:8}")
        is_compiled = "no" if name in not_compiled else "yes"
        # What only looks up rows needs no launch.
        cells.append(f"{is_compiled if launches or not rows else 'lookup':>8}")
        cells.append(f"{shares[name]:4.0%}" if name in shares else " " * 4)
        yield "  " + "  ".join([*cells, name])
    for name, reason in not_compiled.items():
        yield textwrap.indent(_wrapped(f"Not compiled: {name}: {reason}"), "  ")
    yield f"  forward:  {_seconds(forward)}"
    if backward is not None:
        yield f"  backward: {_seconds(backward)}"
    moved, peak = explanation.bytes_moved or 0, explanation.peak_bytes or 0
    yield f"  {_size(moved)} copied, at most {_size(peak)} held at once"
    if least is None:
        yield "  The next run also counts the least launches, and the peaks."


def _seconds(run: Run) -> str:
    """Returns e.g. "1.2 ms: schedule 0.1, gather 0.2, blocks 0.9"."""
    parts = [f"{part} {1e3 * s:.2f}" for part, s in run.seconds.items() if s]
    return f"{1e3 * sum(run.seconds.values()):.2f} ms: {', '.join(parts)}"


def _size(num_bytes: int) -> str:
    """Returns e.g. "1.5 kB".

    >>> _size(1536), _size(2_000_000)
    ('1.5 kB', '2.0 MB')
    """
    units = ["kB", "MB", "GB"]
    power = max(1, min((len(str(num_bytes)) - 1) // 3, len(units)))
    return f"{num_bytes / 1000**power:.1f} {units[power - 1]}"
