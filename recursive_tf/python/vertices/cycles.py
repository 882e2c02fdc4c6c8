"""The order of a graph's vertices, or a cycle of them, in plain Python."""

import collections
import dataclasses

import numpy as np

_SHOWN = 12


@dataclasses.dataclass(frozen=True)
class Edges:
    """The edges of a graph of `count` vertices.

    Attributes:
        target: Of each edge, the vertex that gathers.
        source: Of each edge, the in-neighbor.
        count: The number of vertices.
    """

    target: np.ndarray
    source: np.ndarray
    count: int


def find_cycle(edges: Edges) -> list[int] | None:
    """Returns vertices each of which gathers from the next, the last from the first.

    None if there is no cycle. What is no vertex is passed over.
    """
    there = (edges.source >= 0) & (edges.source < edges.count)
    source, target = edges.source[there], edges.target[there]
    if (source < target).all() or (source > target).all():
        return None  # As most graphs are, and a look is enough.
    _, waits = _evaluate(Edges(target, source, edges.count))
    left = [vertex for vertex, count in enumerate(waits) if count]
    return _walk(left, target, source) if left else None


def order_of(edges: Edges) -> list[int]:
    """Returns the vertices, each after its in-neighbors; without those of cycles."""
    return _evaluate(edges)[0]


def those_below(vertices: list[int], order: list[int], edges: Edges) -> list[int]:
    """Returns, of vertices in order, those that some of them depend on.

    >>> edges = Edges(np.array([2, 3]), np.array([0, 1]), 4)
    >>> those_below([2], order_of(edges), edges)
    [0, 2]
    """
    sources = _grouped(edges.target, edges.source)
    below = set(vertices)
    for vertex in reversed(order):
        if vertex in below:
            below.update(sources[vertex])
    return [vertex for vertex in order if vertex in below]


def in_words(cycle: list[int]) -> str:
    """Returns a cycle for people.

    >>> in_words([3, 5])
    '3 → 5 → 3'
    """
    names = [str(vertex) for vertex in [*cycle, cycle[0]]]
    if len(names) > _SHOWN:
        left_out = f"... {len(names) - _SHOWN} more ..."
        names = [*names[: _SHOWN // 2], left_out, *names[-_SHOWN // 2 :]]
    return " → ".join(names)


def _evaluate(edges: Edges) -> tuple[list[int], list[int]]:
    """Returns vertices in order, and of how many each waits for ever."""
    waits = np.bincount(edges.target, minlength=edges.count).tolist()
    out = _grouped(edges.source, edges.target)
    order = [vertex for vertex, count in enumerate(waits) if not count]
    for vertex in order:
        for target in out[vertex]:
            waits[target] -= 1
            if not waits[target]:
                order.append(target)
    return order, waits


def _grouped(ends: np.ndarray, others: np.ndarray) -> dict[int, list[int]]:
    """Returns, by one end of edges, the others."""
    found: dict[int, list[int]] = collections.defaultdict(list)
    for end, other in zip(ends.tolist(), others.tolist(), strict=True):
        found[end].append(other)
    return found


def _walk(left: list[int], target: np.ndarray, source: np.ndarray) -> list[int]:
    """Returns a cycle among vertices each of which gathers from one of them."""
    among = set(left)
    following = {
        to: by
        for to, by in zip(target.tolist(), source.tolist(), strict=True)
        if to in among and by in among
    }
    seen: dict[int, int] = {}
    path: list[int] = []
    vertex = left[0]
    while vertex not in seen:
        seen[vertex] = len(path)
        path.append(vertex)
        vertex = following[vertex]
    return path[seen[vertex] :]
