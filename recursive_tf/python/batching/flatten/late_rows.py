"""What is not hoisted, though it is the same for all, where procedures give it on."""

import tensorflow as tf

from recursive_tf.python.batching.flatten.computations import Computations
from recursive_tf.python.batching.flatten.flat_program import FlatProcedure, FlatProgram
from recursive_tf.python.batching.refusal import varying


def take_late_as_rows(
    program: FlatProgram, computations: Computations, procedure: FlatProcedure
) -> None:
    """Makes a block compute what a procedure gives on that is not hoisted."""
    rows: dict[int, tf.Tensor] = {}

    def copied(tensor: tf.Tensor) -> tf.Tensor:
        if not tensor.shape.is_fully_defined():
            raise varying(tensor)
        of_activation = computations.any_row(tensor, tensor.op, procedure)
        made = program.made.values_like([tensor, of_activation])
        computations.add_made(made, [tensor, of_activation], tensor.op, procedure)
        return program.resolve(made.outputs[0])

    def row(tensor: tf.Tensor) -> tf.Tensor:
        if not program.is_late(tensor):
            return tensor
        if id(tensor) not in rows:
            rows[id(tensor)] = copied(tensor)
        return rows[id(tensor)]

    for wait in procedure.waits:
        wait.selector = None if wait.selector is None else row(wait.selector)
        wait.key = None if wait.key is None else row(wait.key)
        wait.arguments = list(map(row, wait.arguments))
    for push in procedure.pushes:
        handle, *pushed = program.inputs_of(push)
        program.set_inputs(push, [handle, *map(row, pushed)])
    procedure.outputs = list(map(row, procedure.outputs))
    procedure.next_turn = list(map(row, procedure.next_turn))
