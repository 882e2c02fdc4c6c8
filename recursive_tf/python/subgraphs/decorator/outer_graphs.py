"""The graphs of whose tensors a traced SubGraph makes use."""

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program import Definition
from recursive_tf.python.subgraphs.subgraph import SubGraph
from recursive_tf.python.tracing.function_graph import BodyGraph, enclosing_body


def outer_graphs(subgraph: SubGraph) -> list[tf.Graph]:
    """Returns the graphs whose tensors must exist where a SubGraph is called.

    These are the owners of what its body captures, and of what those capture that it
    calls, but for tensors of a caller among them.
    """
    bodies = _reachable(subgraph)
    used = {id(body): _captured(body) for body in bodies}
    changed = True
    while changed:
        changed = False
        for body in bodies:
            for callee in _callees(body):
                new = [t for t in used[id(callee)] if enclosing_body(t.graph) != body]
                missing = [t for t in new if all(t is not u for u in used[id(body)])]
                used[id(body)] += missing
                changed = changed or bool(missing)
    return [tensor.graph for tensor in used[id(bodies[0])]]


def _reachable(subgraph: SubGraph) -> list[BodyGraph]:
    body = subgraph._called_body
    assert body is not None
    found = [body]
    for body in found:
        found += [callee for callee in _callees(body) if callee not in found]
    return found


def _callees(body: BodyGraph) -> list[BodyGraph]:
    bodies = [
        callee.body if isinstance(callee, Definition) else callee._called_body
        for callee in body.callees.values()
    ]
    return [callee for callee in bodies if callee is not None]


def _captured(body: BodyGraph) -> list[tf.Tensor]:
    outer = [external for external, _ in body.captures]
    return [t for t in outer if not isinstance(t, tf_compat.EagerTensor)]
