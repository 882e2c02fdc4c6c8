"""Maps in bodies: calls for each item of lists."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.computations import Computations
from recursive_tf.python.batching.flatten.flat_program import (
    FlatProcedure,
    FlatProgram,
    Wait,
)
from recursive_tf.python.batching.refusal import CannotBatchError, varying
from recursive_tf.python.tracing.specs import count_of_rows


class Maps:
    """Adds the maps of a program.

    Where it is known how many rows a map has, these become a list, and its results
    become rows.
    """

    def __init__(self, program: FlatProgram, computations: Computations) -> None:
        self._program = program
        self._lists = program.lists
        self._computations = computations

    def add(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        """Adds a call for each item of what a map takes."""
        program = self._program
        first_shared = len(op.inputs) - op.get_attr("num_shared")
        mapped = [program.resolve(tensor) for tensor in op.inputs[1:first_shared]]
        shared = [program.resolve(tensor) for tensor in op.inputs[first_shared:]]
        outputs = list(op.outputs)[:-1]
        callee = program.procedures[op.get_attr("callee")]
        site = op.get_attr("site")
        if self._are_of_one_axis(mapped):
            arguments = [*mapped, *shared]
            wait = Wait(op, [callee], None, arguments, outputs, site, len(mapped))
            self._wait_for_items(procedure, wait)
            return
        count = self._count_of_rows(op, mapped)
        if not count:
            program.bind(outputs, list(map(program.made.no_rows, outputs)))
            return
        lists = [self._as_list(tensor, count, op, procedure) for tensor in mapped]
        specs = [tf.TensorSpec([None, *t.shape[1:]], t.dtype) for t in outputs]
        made = program.add_last(program.made.values_like(specs))
        tf_compat.set_origin(made, op)
        results = list(made.outputs)
        arguments = [*lists, *shared]
        wait = Wait(made, [callee], None, arguments, results, site, len(mapped))
        self._wait_for_items(procedure, wait)
        for output, items in zip(outputs, results, strict=True):
            rows = program.made.from_list(items, count)
            self._computations.add_made(rows, [items], output.op, procedure)
            program.bind([output], rows.outputs)

    def _wait_for_items(self, procedure: FlatProcedure, wait: Wait) -> None:
        wait.count = self._lists.count_of(wait.arguments[0])
        for result in wait.results:
            if not result.shape[1:].is_fully_defined():
                raise varying(result)
            self._lists.add_like(result, wait.arguments[0])
        self._program.wait(procedure, wait)

    def _are_of_one_axis(self, tensors: Sequence[tf.Tensor]) -> bool:
        if not all(map(self._lists.is_list, tensors)):
            return False
        return len({id(self._lists.origin_of(tensor)) for tensor in tensors}) == 1

    def _count_of_rows(self, op: tf.Operation, arguments: Sequence[tf.Tensor]) -> int:
        count = count_of_rows(arguments)
        if any(map(self._lists.is_list, arguments)):
            raise CannotBatchError(
                op,
                "it is not known whether its arguments have as many rows as each "
                "other. Compute them from one list of rows, item by item, or use the "
                "dataflow executor.",
            )
        if count is None:
            raise CannotBatchError(
                op,
                "how many rows this map has may differ between activations, and what "
                "says so is not computed in this body. Give its argument a static "
                "shape, or use the dataflow executor.",
            )
        return count

    def _as_list(
        self, rows: tf.Tensor, count: int, op: tf.Operation, procedure: FlatProcedure
    ) -> tf.Tensor:
        """Returns rows, of which it is known how many there are, as a list."""
        of_activation = self._computations.any_row(rows, op, procedure)
        made = self._program.made.as_list(rows, of_activation)
        self._computations.add_made(made, [rows, of_activation], op, procedure)
        items = self._program.resolve(made.outputs[0])
        if self._lists.origin_of(items) is items:
            self._lists.set_count(items, self._program.made.constant([count]))
        return items
