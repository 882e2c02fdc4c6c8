"""Ops that compute rows, as they are added to procedures: each once, lists found."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import (
    FlatProcedure,
    FlatProgram,
    around,
)
from recursive_tf.python.batching.flatten.item_lists import may_be_list
from recursive_tf.python.batching.flatten.total import is_smooth
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.program.effects import has_effect


class Computations:
    """What procedures of a flat program compute so far."""

    def __init__(self, program: FlatProgram) -> None:
        self._program = program
        self._known: dict[FlatProcedure, dict[object, tf.Operation]] = {}

    def add(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        """Adds an op, unless the procedure, or one around it, has it already."""
        same = self._same_op(op, procedure)
        if same is not None:
            self._program.bind(op.outputs, same.outputs)
        elif not op.outputs or any(map(self._program.is_row, op.outputs)):
            procedure.ops.append(op)
            self._find_lists(op, procedure)

    def add_made(
        self,
        made: tf.Operation,
        inputs: Sequence[tf.Tensor],
        source: tf.Operation,
        procedure: FlatProcedure,
    ) -> None:
        """Adds an op that no closed procedure has.

        Args:
            made: The op.
            inputs: What it takes.
            source: What it was made for.
            procedure: Where.
        """
        self._program.add_last(made)
        tf_compat.set_origin(made, source)
        self._program.bind(made.inputs, inputs)
        self.add(made, procedure)

    def any_row(
        self, tensor: tf.Tensor, op: tf.Operation, procedure: FlatProcedure
    ) -> tf.Tensor:
        """Returns `tensor`, if activations have their own, or else what they do.

        Raises:
            CannotBatchError: If they have nothing, which `op` is told of.
        """
        candidates = [tensor, *(t for at in around(procedure) for t in at.inputs)]
        found = next(filter(self._program.is_row, candidates), None)
        if found is None:
            raise CannotBatchError(
                op,
                "it is in a SubGraph without inputs. Give it one, or use the dataflow "
                "executor.",
            )
        return found

    def _find_lists(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        program = self._program
        inputs, scopes = program.inputs_of(op), list(around(procedure))
        program.lists.add_sizes(op, inputs)
        for output in op.outputs:
            if not may_be_list(output) or not program.lists.add(output, inputs, scopes):
                continue
            made = program.made.shape_of(output)
            self.add_made(made, [output], op, procedure)
            program.lists.set_count(output, program.resolve(made.outputs[0]))

    def _same_op(
        self, op: tf.Operation, procedure: FlatProcedure
    ) -> tf.Operation | None:
        if not op.outputs or has_effect(op) or self._program.own_gradients.has(op):
            return None
        inputs = self._program.inputs_of(op)
        key = tf_compat.signature_of(op), tuple(map(id, inputs))
        # For what is around, nobody may want it, and so its gradient is zero.
        may_move = is_smooth(op, inputs)
        for at in around(procedure) if may_move else (procedure,):
            same = self._known.get(at, {}).get(key)
            if same is not None:
                return same
        self._known.setdefault(procedure, {})[key] = op
        return None
