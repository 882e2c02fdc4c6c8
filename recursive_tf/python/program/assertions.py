"""Assertions that TensorFlow guards by a conditional, as those of floats."""

import tensorflow as tf

from recursive_tf.python.program.graph_copy import behind_identities, branch_graphs
from recursive_tf.python.tf_compat import FuncGraph

_IDLE = frozenset(("Const", "Identity", "NoOp", "Placeholder"))


def guarded_assertion(op: tf.Operation) -> FuncGraph | None:
    """Returns the branch with the assertion, if `op` does nothing else but to guard it.

    The assertion is of the condition by which that branch is taken; so it may as well
    run always, without a conditional, which would be two branches to launch.
    """
    if op.type not in ("If", "StatelessIf"):
        return None
    branches = branch_graphs(op)
    idle, guarded = ([o for o in g.get_operations() if _acts(o)] for g in branches)
    if idle or len(guarded) != 1 or guarded[0].type != "Assert":
        return None
    given = [guarded[0].inputs[0], *branches[1].outputs]
    is_condition = [_is_condition(op, branches[1], tensor) for tensor in given]
    is_condition += [_is_condition(op, branches[0], t) for t in branches[0].outputs]
    return branches[1] if all(is_condition) else None


def _acts(op: tf.Operation) -> bool:
    return op.type not in _IDLE


def _is_condition(op: tf.Operation, branch: FuncGraph, tensor: tf.Tensor) -> bool:
    """Says whether a tensor of a branch is what `op` decides by."""
    source = behind_identities(tensor)
    pairs = zip(branch.inputs, list(op.inputs)[1:], strict=True)
    return any(inner is source and outer is op.inputs[0] for inner, outer in pairs)
