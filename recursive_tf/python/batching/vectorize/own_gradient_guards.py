"""Gradients that ops have of their own, in a vectorized block.

A copy stands behind what such an op gives: its gradient is that of the op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.flatten.own_gradients import is_read
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.program.trainable import is_trainable

if TYPE_CHECKING:
    from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock


class OwnGradientGuards:
    """Puts such copies into a block."""

    def __init__(self, block: VectorizedBlock, program: FlatProgram) -> None:
        self._block = block
        self._program = program

    def put(
        self, op: tf.Operation, inputs: list[Operand], values: dict[int, Operand]
    ) -> None:
        """Puts a copy behind what `op` gives, with the gradient that `op` has.

        Args:
            op: It has one.
            inputs: What it takes in the block.
            values: What its outputs are, by id; it changes.
        """
        block = self._block
        try:
            own = self._program.own_gradients.of(op)
        except CannotBatchError as error:  # Which matters if somebody wants it.
            self._refuse(op, values, error)
            return
        guarded = [op.outputs[i] for i in own.cotangents]
        if not guarded:
            return
        outputs = [block.all_rows(values[id(output)]) for output in guarded]
        taken = [block.tensor(inputs[i]) for i in own.inputs]
        copies = tf.raw_ops.IdentityN(input=[*outputs, *taken])
        for output, copied in zip(guarded, copies, strict=False):
            values[id(output)] = Operand(copied, is_row=True)
        captures = [self._captured(op, tensor, values) for tensor in own.captures]
        shares = [not inputs[i].is_row for i in own.inputs]

        def differentiate(_: tf.Operation, *gradients: tf.Tensor) -> list[Any]:
            given = [Operand(g, is_row=True) for g in gradients[: len(guarded)]]
            found = map(block.all_rows, block.inlined(own.graph, [*given, *captures]))
            return [None] * len(guarded) + [
                tf.reduce_sum(rows, 0) if is_shared else rows
                for rows, is_shared in zip(found, shares, strict=True)
            ]

        tf_compat.set_gradient_function(copies[0].op, differentiate)

    def _refuse(
        self, op: tf.Operation, values: dict[int, Operand], error: CannotBatchError
    ) -> None:
        def refuse(*_: Any) -> NoReturn:
            raise error

        for output in op.outputs:
            if is_trainable(output.dtype) and is_read(output):
                (copied,) = tf.raw_ops.IdentityN(
                    input=[self._block.all_rows(values[id(output)])]
                )
                tf_compat.set_gradient_function(copied.op, refuse)
                values[id(output)] = Operand(copied, is_row=True)

    def _captured(
        self, op: tf.Operation, tensor: tf.Tensor, values: dict[int, Operand]
    ) -> Operand:
        """Returns what a gradient of its own uses."""
        if isinstance(tensor, tf_compat.EagerTensor):
            return self._block.once(lambda: tf.constant(tensor.numpy(), tensor.dtype))
        resolved = self._program.resolve(tensor)
        for known in (values, self._block.values):
            for candidate in (tensor, resolved):
                if id(candidate) in known:
                    if known[id(candidate)].axis is not None:
                        raise refused_for_lists(op)
                    return known[id(candidate)]
        if not self._program.has(resolved) or self._program.is_row(resolved):
            raise CannotBatchError(
                op,
                "it has a gradient of its own, e.g. of tf.custom_gradient, which uses "
                f"{tensor.name}, and that is not there. Make it an argument of the "
                "function with the gradient, or use the dataflow executor.",
            )
        return self._block.operand(resolved)


def refused_for_lists(op: tf.Operation) -> CannotBatchError:
    """Returns why `op`, of lists, cannot be batched with a gradient of its own."""
    return CannotBatchError(
        op,
        "it has a gradient of its own, e.g. of tf.custom_gradient, and takes rows "
        "of which activations have other numbers. Use the dataflow executor.",
    )
