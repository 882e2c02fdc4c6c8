"""What a call returns before its SubGraph is defined: ask a sibling branch.

The base case of a recursion stands in the other branch of some conditional around
the call, and has the structure that the call must have. So the branches of the
conditionals that are being traced are looked up, innermost first, and one that is
not traced yet is traced on trial (Jeong et al. 2018, section 5, "Forward
declaration"; here nobody predeclares anything).
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import UnknownOutputsError
from recursive_tf.python.function_graph import enclosing_body
from recursive_tf.python.signature import spec_of


class _Conditional:
    """A `tf.cond` or `tf.switch_case` that is being traced.

    Attributes:
        traced: The graphs of the branches that are done.
        waiting: The functions of the branches after the one being traced.
        is_autographs: It is an `if` statement that AutoGraph converted, whose branches
            return bookkeeping.
    """

    def __init__(self, local_variables: dict[str, Any]) -> None:
        if "branch_fns" in local_variables:
            functions = list(local_variables["branch_fns"])
            self.traced = list(local_variables.get("branch_graphs", []))
        else:
            functions = [local_variables["true_fn"], local_variables["false_fn"]]
            names = ("true_graph", "false_graph")
            self.traced = [
                local_variables[name] for name in names if name in local_variables
            ]
        self.waiting: list[Callable[[], Any]] = functions[len(self.traced) + 1 :]
        self.is_autographs = tf_compat.is_autographs_branch(functions[0])


def _conditionals_being_traced() -> Iterator[_Conditional]:
    """Yields the conditionals whose branches call us, from inside out.

    If a branch is traced on trial, only those within it: those around it are what the
    trial is for, and go on when it fails.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not _trace_on_trial.__code__:
        if frame.f_code in tf_compat.CONDITIONAL_CODE:
            yield _Conditional(frame.f_locals)
        frame = frame.f_back  # type: ignore[assignment]


def outputs_of_sibling() -> Any:
    """Returns the specs that a sibling branch of the branch being traced returns.

    Returns:
        A structure of specs, or None if no sibling of any enclosing conditional
        returns without a call whose outputs are unknown.
    """
    graph = tf_compat.default_graph()
    for conditional in _conditionals_being_traced():
        graph = getattr(graph, "outer_graph", None) or graph
        if enclosing_body(graph) is None:
            return None  # It is around the definition, and shows nothing of it.
        if conditional.is_autographs:
            continue
        for traced in conditional.traced:
            return _specs_of(traced.structured_outputs)
        for branch in conditional.waiting:
            found = _trace_on_trial(branch, graph)
            if found is not None:
                return found
    return None


def _trace_on_trial(branch: Callable[[], Any], outer: tf.Graph) -> Any:
    """Returns what `branch` returns, or None if it needs what we look for."""
    try:
        with outer.as_default():
            return _specs_of(tf_compat.trace(branch, "trial").structured_outputs)
    except UnknownOutputsError:
        return None


def _specs_of(structure: Any) -> Any:
    return tf.nest.map_structure(spec_of, structure)
