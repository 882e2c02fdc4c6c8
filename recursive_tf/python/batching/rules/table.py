"""The rule for each type of op."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorised_block import Rule, VectorisedBlock
from recursive_tf.python.graph_copy import CONDITIONALS, LOOPS

_RULES: dict[str, Rule] = {}


def register_vectorization(*op_types: str) -> Callable[[Rule], Rule]:
    """Returns a decorator that makes a function the rule for ops of some types.

    A rule gets the block that is vectorised, the op as it stands for one activation,
    and its inputs, of which some have rows in front. It returns the outputs: tensors
    with rows in front, or operands that are the same for all rows.
    """

    def register(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(op_types, rule))
        return rule

    return register


def rule_of(op: tf.Operation) -> Rule:
    """Returns the rule for an op.

    Raises:
        CannotBatchError: If there is none.
    """
    if op.type in _RULES:
        return _RULES[op.type]
    if tf_compat.is_stateful(op):
        raise CannotBatchError(op, "it has an effect for each activation.")
    if tf_compat.is_elementwise(op.type):
        return elementwise
    if tf_compat.has_converter(op.type) and op.type not in CONDITIONALS | LOOPS:
        return by_vectorized_map
    raise CannotBatchError(
        op,
        "there is no rule for it. Give one with rtf.register_vectorization, or use the "
        "dataflow executor.",
    )


def elementwise(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The rule of ops that broadcast."""
    rank = max(operand.rank for operand in inputs)
    return block.add_like(op, [block.aligned(operand, rank) for operand in inputs])


def by_vectorized_map(
    block: VectorisedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The rule of the long tail: what `tf.vectorized_map` does."""
    wrapped = [(block.tensor(operand), operand.is_row) for operand in inputs]
    results = []
    converted = tf_compat.convert_by_vectorized_map(op, wrapped, block.num_rows)
    for (tensor, is_row), output in zip(converted, op.outputs, strict=True):
        shape = [block.num_rows, *output.shape]
        rows = tensor if is_row else tf.broadcast_to(tensor, shape)
        rows.set_shape(shape)
        results.append(rows)
    return results
