"""Cuts a program into blocks: maximal parts without a wait."""

import dataclasses
from collections.abc import Iterable

import tensorflow as tf

from recursive_tf.python.batching.flatten.flat_program import (
    FlatProcedure,
    FlatProgram,
    around,
)
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.plan.stages import Stages
from recursive_tf.python.program.effects import has_effect
from recursive_tf.python.program.reachable import reachable


@dataclasses.dataclass(eq=False)
class Block:
    """What all activations that are at a stage of a procedure compute together.

    Attributes:
        name: For people: the procedure's, with the stage.
        procedure: Where it stands.
        stage: Of the procedure.
        ops: In an order in which they can run.
        inputs: Rows from outside of the block.
        outputs: Rows that something outside reads.
        pieces: What an input is joined of, by its id, if it is: it is gathered in one
            go, and no op of the block has to put it together.
    """

    name: str
    procedure: FlatProcedure
    stage: int
    ops: list[tf.Operation]
    inputs: list[tf.Tensor]
    outputs: list[tf.Tensor]
    pieces: dict[int, list[tf.Tensor]] = dataclasses.field(default_factory=dict)

    def pieces_of(self, tensor: tf.Tensor) -> list[tf.Tensor]:
        """Returns the rows that an input is made of, one behind the other."""
        return self.pieces.get(id(tensor), [tensor])

    def sources(self) -> list[tf.Tensor]:
        """Returns the rows that all inputs are made of."""
        return [piece for tensor in self.inputs for piece in self.pieces_of(tensor)]


def cut(program: FlatProgram, stages: Stages) -> list[Block]:
    """Returns the blocks that have anything to compute, procedure by procedure."""
    needed = _needed_ops(program, stages)
    ops_at: dict[tuple[FlatProcedure, int], list[tf.Operation]] = {}
    for op in sorted(needed, key=program.order_of):
        ops_at.setdefault(stages.place[op], []).append(op)
    read_outside = _read_outside(program, stages, needed)
    blocks = []
    for procedure in program.procedures:
        for stage in range(stages.counts[procedure]):
            ops = ops_at.get((procedure, stage))
            if ops is None:
                continue
            outputs = [t for op in ops for t in op.outputs if id(t) in read_outside]
            pieces = _joined(program, stages, ops, outputs)
            ops = [op for op in ops if not any(id(t) in pieces for t in op.outputs)]
            inputs = _inputs(program, stages, ops) or _any_input(
                program, procedure, ops
            )
            name = f"{procedure.name}.{stage}"
            blocks.append(Block(name, procedure, stage, ops, inputs, outputs, pieces))
    return blocks


def _inputs(
    program: FlatProgram, stages: Stages, ops: list[tf.Operation]
) -> list[tf.Tensor]:
    """Returns the rows that ops read and do not compute."""
    own = {id(output) for op in ops for output in op.outputs}
    read = (t for op in ops for t in stages.reads_of(op) if program.is_row(t))
    return list({id(t): t for t in read if id(t) not in own}.values())


def _any_input(
    program: FlatProgram, procedure: FlatProcedure, ops: list[tf.Operation]
) -> list[tf.Tensor]:
    """Returns a row for ops that happen for each activation, but read none of it.

    A gradient that an op has of its own happens so, too.
    """
    if not any(has_effect(op) or program.own_gradients.differ(op) for op in ops):
        return []
    inputs = (t for at in around(procedure) for t in at.inputs)
    return [t for t in inputs if program.is_row(t) and _is_bytes(t)][:1]


def _joined(
    program: FlatProgram,
    stages: Stages,
    ops: list[tf.Operation],
    outputs: list[tf.Tensor],
) -> dict[int, list[tf.Tensor]]:
    """Returns what is a concatenation of inputs that only this block reads, by id."""
    given = set(map(id, _inputs(program, stages, ops)))
    kept = set(map(id, outputs))
    joined = {}
    for op in ops:
        if op.type != "ConcatV2" or id(op.outputs[0]) in kept:
            continue
        *pieces, axis = program.inputs_of(op)
        # Along its first axis a row is in memory what its pieces are, in sequence.
        is_sequence = static_value(axis) == 0 and all(map(_is_bytes, pieces))
        if is_sequence and all(id(piece) in given for piece in pieces):
            joined[id(op.outputs[0])] = pieces
    return joined


def _is_bytes(tensor: tf.Tensor) -> bool:
    is_number = tensor.dtype.is_floating or tensor.dtype.is_integer
    return bool(is_number and tensor.shape.is_fully_defined())


def roots_of(program: FlatProgram) -> list[tf.Tensor]:
    """Returns what procedures read beside their ops: for waits, pushes and returns."""
    return [t for p in program.procedures for t in roots_within(program, p)]


def roots_within(program: FlatProgram, procedure: FlatProcedure) -> list[tf.Tensor]:
    """Returns the same of one procedure, without its branches."""
    roots = []
    for wait in procedure.waits:
        roots += wait.inputs
    for push in procedure.pushes:
        roots += program.inputs_of(push)[1:]
    return roots + procedure.outputs + procedure.next_turn


def _needed_ops(program: FlatProgram, stages: Stages) -> set[tf.Operation]:
    """Returns the ops that a result, a wait or an effect needs."""

    def placed(tensors: Iterable[tf.Tensor]) -> list[tf.Operation]:
        return [tensor.op for tensor in tensors if tensor.op in stages.place]

    effects = [op for op in stages.place if has_effect(op)]
    return reachable(
        [*placed(roots_of(program)), *effects],
        lambda op: placed(stages.reads_of(op)),
    )


def _read_outside(
    program: FlatProgram, stages: Stages, needed: set[tf.Operation]
) -> set[int]:
    """Returns the ids of the tensors that something outside of their block reads."""
    read = {id(t) for t in roots_of(program)}
    for op in needed:
        for tensor in stages.reads_of(op):
            if stages.place.get(tensor.op) != stages.place[op]:
                read.add(id(tensor))
    return read
