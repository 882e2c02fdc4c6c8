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
from recursive_tf.python.tracing.function_graph import enclosing_body
from recursive_tf.python.tracing.specs import as_output, spec_of


class _Conditional:
    """A `tf.cond` or `tf.switch_case` that is being traced.

    Attributes:
        siblings: The functions of the branches but the one being traced: those that
            are done first.
        is_autographs: It is an `if` statement that AutoGraph converted, whose branches
            return bookkeeping.
        assigns_nothing: Such a statement leaves no variable that is read after it.
    """

    def __init__(self, local_variables: dict[str, Any]) -> None:
        if "branch_fns" in local_variables:
            functions = list(local_variables["branch_fns"])
            traced = len(local_variables.get("branch_graphs", []))
        else:
            functions = [local_variables["true_fn"], local_variables["false_fn"]]
            traced = ("true_graph" in local_variables) + (
                "false_graph" in local_variables
            )
        self.siblings = functions[:traced] + functions[traced + 1 :]
        self.is_autographs = tf_compat.is_autographs_branch(functions[0])
        self.assigns_nothing = self.is_autographs and tf_compat.assigns_nothing(
            functions[0]
        )


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
    """Returns what a sibling branch of the branch being traced returns.

    Returns:
        A structure of specs, or None if no sibling of any enclosing conditional
        returns without a call whose outputs are unknown. If the innermost conditional
        returns no tensors, and none around it shows any, the structure has none
        either: then nobody can use what the call returns.
    """
    graph = tf_compat.default_graph()
    innermost = None
    for depth, conditional in enumerate(_conditionals_being_traced()):
        graph = getattr(graph, "outer_graph", None) or graph
        if enclosing_body(graph) is None:
            break  # It is around the definition, and shows nothing of it.
        found = _shown_by(conditional, graph)
        if found is not None and not shows_nothing(found):
            return _without_operations(found)
        if depth == 0:
            innermost = found
    return innermost


def shows_nothing(shown: Any) -> bool:
    """Says whether what a branch returns has no tensors in it."""
    return not tf.nest.flatten(_without_operations(shown), expand_composites=True)


def in_place_of(shown: Any, call: tf.Operation) -> Any:
    """Returns what a call returns where a sibling shows that it returns nothing."""
    return tf.nest.map_structure(
        lambda leaf: call if isinstance(leaf, tf.Operation) else None, shown
    )


def _without_operations(shown: Any) -> Any:
    return tf.nest.map_structure(
        lambda leaf: spec_of(None) if isinstance(leaf, tf.Operation) else leaf, shown
    )


def _shown_by(conditional: _Conditional, outer: tf.Graph) -> Any:
    if conditional.is_autographs:
        return spec_of(None) if conditional.assigns_nothing else None
    trials = (_trace_on_trial(branch, outer) for branch in conditional.siblings)
    return next((found for found in trials if found is not None), None)


def _trace_on_trial(branch: Callable[[], Any], outer: tf.Graph) -> Any:
    """Returns what `branch` returns, or None if it needs what we look for.

    A leaf is a spec, or an operation.
    """
    returned = []

    def run() -> None:
        returned.append(branch())

    try:
        with outer.as_default():
            graph = tf_compat.trace(run, "trial")
            with graph.as_default():
                return tf.nest.map_structure(_shown, returned[0])
    except UnknownOutputsError:
        return None


def _shown(leaf: Any) -> Any:
    """Returns an operation as it is, and the spec of anything else."""
    if isinstance(leaf, tf.Operation):
        return leaf
    return spec_of(as_output(leaf))
