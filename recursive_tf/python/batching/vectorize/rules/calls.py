"""Rules of functions, conditionals and loops that call no SubGraph."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    FUNCTION_CALLS,
    LOOPS,
    branch_graphs,
)

# A loop is written out. What turns more often would make a graph that is slow to build.
_MOST_TURNS = 128


@register_vectorization(*FUNCTION_CALLS)
def call(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """The function's ops, one by one."""
    (graph,) = branch_graphs(op)
    return block.inlined(graph, inputs)


@register_vectorization(*CONDITIONALS)
def conditional(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """The branch that is known to be taken."""
    selector = None if inputs[0].is_row else static_value(inputs[0].tensor)
    if selector is None:
        raise CannotBatchError(
            op,
            "which branch is taken is not known before the program runs, and it is in "
            "a loop. Use tf.where, or the dataflow executor.",
        )
    branches = branch_graphs(op)
    if "Case" not in op.type:
        taken = 0 if selector else 1  # The branch for true is the first.
    else:
        last = len(branches) - 1
        taken = int(selector) if 0 <= selector <= last else last
    return block.inlined(branches[taken], inputs[1:])


@register_vectorization(*LOOPS)
def loop(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[Operand]:
    """The loop written out, if it is known how often it turns."""
    condition, body = branch_graphs(op)
    variables = list(inputs)
    for _ in range(_MOST_TURNS):
        (again,) = block.inlined(condition, variables)
        if again.is_row:
            raise CannotBatchError(
                op,
                "activations may differ in how often it turns. Make the loop a "
                "recursion, or use the dataflow executor.",
            )
        turns = static_value(again.tensor)
        if turns is None:
            raise CannotBatchError(
                op,
                "how often it turns is not known before the program runs. Make the "
                "loop a recursion, or use the dataflow executor.",
            )
        if not turns:
            return variables
        variables = [
            _as_constant(block, variable) for variable in block.inlined(body, variables)
        ]
    raise CannotBatchError(
        op,
        f"it turns more than {_MOST_TURNS} times. Make the loop a recursion, or use "
        "the dataflow executor.",
    )


def _as_constant(block: VectorizedBlock, operand: Operand) -> Operand:
    """Returns a constant for what is one: so a counter stays a number."""
    value = None if operand.is_row else static_value(operand.tensor)
    if value is None:
        return operand
    return block.once(lambda: tf.constant(value, operand.tensor.dtype))
