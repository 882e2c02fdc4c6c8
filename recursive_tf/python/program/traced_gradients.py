"""The gradients that functions in a traced graph have of their own."""

from recursive_tf.python import tf_compat
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    FUNCTION_CALLS,
    LOOPS,
    branch_graphs,
)
from recursive_tf.python.tf_compat import FuncGraph

_FUNCTIONAL = CONDITIONALS | FUNCTION_CALLS | LOOPS


def own_custom_gradients(graph: FuncGraph) -> None:
    """Makes the gradients of `tf.custom_gradient` in a graph die with it.

    TensorFlow keeps them for good, and with them the graph and all around it. A copy of
    the graph owns them, too, but a body that nothing calls is never copied. Those of a
    function that was traced elsewhere are for others, too.
    """
    for op in graph.get_operations():
        if op.type in _FUNCTIONAL:
            for branch in branch_graphs(op):
                if any(g is graph for g in tf_compat.graph_chain(branch)):
                    own_custom_gradients(branch)
        elif op.type == "IdentityN" and tf_compat.has_custom_gradient(op):
            tf_compat.own_custom_gradient(op)
