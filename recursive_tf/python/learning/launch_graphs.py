"""Runs of programs as launch graphs."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.ops import library

_OF_NODES = ("blocks", "call_depths", "num_waits", "waits")
# Runs are recorded of the whole process.
_one_recording = threading.Lock()


@dataclasses.dataclass(frozen=True)
class LaunchGraphs:
    """Runs of one program: a node is what an activation gets of a launch.

    A node waits for nodes of its run that are before it.

    Attributes:
        subgraph: The name of the SubGraph that root calls invoke.
        block_places: Of each block, its procedure and its stage: [blocks].
        ranks: Of each block: int32 [blocks].
        num_nodes: Of each run: int64 [runs].
        blocks: Of each node of each run, its block: int32 [nodes].
        call_depths: The same, how many calls are around it: int32 [nodes].
        num_waits: The same, for how many nodes it waits: int32 [nodes].
        waits: These, by their number within the run: int32.
    """

    subgraph: str
    block_places: tuple[str, ...]
    ranks: np.ndarray
    num_nodes: np.ndarray
    blocks: np.ndarray
    call_depths: np.ndarray
    num_waits: np.ndarray
    waits: np.ndarray

    def tensors(self) -> dict[str, np.ndarray]:
        """Returns the runs as ops take them."""
        names = ("ranks", "num_nodes", *_OF_NODES)
        return {name: getattr(self, name) for name in names}

    def with_runs_of(self, other: "LaunchGraphs") -> "LaunchGraphs":
        """Returns these runs, and others of the same program."""
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("num_nodes", *_OF_NODES)
        }
        return dataclasses.replace(self, **joined)


def record(run: Callable[[], None]) -> list[LaunchGraphs]:
    """Runs something, and returns the runs of programs meanwhile, by program.

    Runs of other threads are among them. Definitions of one program are one program.
    """
    recorded = recorded_runs(run)
    found: dict[tuple[str, ...], LaunchGraphs] = {}
    for graphs in _runs(recorded):
        known = found.get(graphs.block_places)
        if known is not None:
            graphs = known.with_runs_of(graphs)
        found[graphs.block_places] = graphs
    return list(found.values())


def recorded_runs(run: Callable[[], None]) -> Any:
    """Runs something, and returns the runs of programs meanwhile, as ops take them."""
    with _one_recording:
        _record(True)
        try:
            run()
        finally:
            recorded = _record(False)
    return recorded


def _record(start: bool) -> Any:
    with tf.init_scope(), tf.device("CPU:0"):
        return library.recursive_record(start=start)


def _runs(recorded: Any) -> Iterator[LaunchGraphs]:
    """Yields each run by itself."""
    values = {name: t.numpy() for name, t in recorded._asdict().items()}
    if not values["subgraphs"].size:
        return
    blocks = np.cumsum(values["num_blocks"])[:-1]
    nodes = np.cumsum(values["num_nodes"])[:-1]
    num_waits = np.split(values["num_waits"], nodes)
    waits = np.cumsum([counts.sum() for counts in num_waits], dtype=np.int64)[:-1]
    parts = zip(
        values["subgraphs"],
        np.split(values["block_places"], blocks),
        np.split(values["ranks"], blocks),
        np.split(values["num_nodes"], len(values["num_nodes"])),
        np.split(values["blocks"], nodes),
        np.split(values["call_depths"], nodes),
        num_waits,
        np.split(values["waits"], waits),
        strict=True,
    )
    for subgraph, places, *arrays in parts:
        yield LaunchGraphs(
            subgraph.decode(), tuple(place.decode() for place in places), *arrays
        )
