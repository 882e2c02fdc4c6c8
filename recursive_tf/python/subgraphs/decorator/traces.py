"""The SubGraphs that a decorated function was traced to."""

import dataclasses
import threading
import weakref
from collections.abc import Iterator

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.subgraphs.decorator.outer_graphs import outer_graphs
from recursive_tf.python.subgraphs.decorator.pattern import Pattern
from recursive_tf.python.subgraphs.subgraph import SubGraph
from recursive_tf.python.tracing.function_graph import BodyGraph


@dataclasses.dataclass(frozen=True)
class Trace:
    """A SubGraph, and the calls that it is for."""

    pattern: Pattern
    subgraph: SubGraph

    @property
    def is_dead(self) -> bool:
        """Whether no call can be for it any more."""
        return any(value.is_dead for value in self.pattern.static_values)


class Traces:
    """The SubGraphs of one decorated function.

    A trace that was made for calls in a graph is kept with that graph, and those made
    for eager calls are kept here: what a body uses of the outside may be another thing
    in each. A trace that uses tensors of a branch, or of another body, is kept with
    that, and found where these tensors exist.

    Thread safety: all of it; what is kept is replaced, never changed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._eager: tuple[Trace, ...] = ()

    def find(self, call: Pattern) -> SubGraph | None:
        """Returns a SubGraph for a call in the default graph, the most special one."""
        fitting = [trace for trace in self._here() if trace.pattern.fits(call)]
        exact = (trace for trace in fitting if trace.pattern.equals(call))
        found = next(exact, None) or next(iter(fitting), None)
        return None if found is None else found.subgraph

    def add(self, pattern: Pattern, subgraph: SubGraph) -> None:
        """Keeps a SubGraph that was traced for a call in the default graph."""
        trace = Trace(pattern, subgraph)
        owners = outer_graphs(subgraph)
        chain = list(tf_compat.graph_chain(tf_compat.default_graph()))
        if owners and not any(graph in owners for graph in chain):
            return  # It uses what does not exist here, and says so when it is called.
        inner = (graph for graph in chain if graph in owners)
        self._keep(trace, next(inner, None) or _function_around(chain))
        for value in pattern.static_values:
            value.when_dead(_drop_dead, weakref.ref(self))

    def subgraphs(self) -> list[SubGraph]:
        """Returns all that a call in the default graph could be for."""
        return [trace.subgraph for trace in self._here()]

    def drop_dead(self) -> None:
        """Forgets traces for Python values that are no more."""
        # It may be the garbage collector who calls, which must not wait: what is left
        # is dropped with the next trace.
        if self._lock.acquire(blocking=False):
            self._eager = self._alive()
            self._lock.release()

    def _keep(self, trace: Trace, graph: tf.Graph | None) -> None:
        with self._lock:
            if graph is None:
                self._eager = (*self._alive(), trace)
            else:
                kept = tf_compat.kept_with(graph).get(self, ())
                tf_compat.keep_with(graph, self, (*kept, trace))

    def _alive(self) -> tuple[Trace, ...]:
        return tuple(trace for trace in self._eager if not trace.is_dead)

    def _here(self) -> Iterator[Trace]:
        chain = list(tf_compat.graph_chain(tf_compat.default_graph()))
        for graph in chain:
            yield from tf_compat.kept_with(graph).get(self, ())
        if _function_around(chain) is None:
            yield from self._eager


def _function_around(chain: list[tf.Graph]) -> tf.Graph | None:
    """Returns the outermost function of a chain of graphs, bodies left out."""
    found = None
    for graph in chain:
        if isinstance(graph, BodyGraph):
            found = None
        elif isinstance(graph, tf_compat.FuncGraph):
            found = graph
    return found


def _drop_dead(traces: "weakref.ref[Traces]") -> None:
    alive = traces()
    if alive is not None:
        alive.drop_dead()
