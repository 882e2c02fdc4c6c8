"""What runs for a block when the program will be differentiated."""

import dataclasses
import enum

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.differentiate.joint_graph import (
    JointGraph,
    differentiate,
)
from recursive_tf.python.batching.differentiate.part import Part
from recursive_tf.python.batching.differentiate.split import is_leaf, split
from recursive_tf.python.batching.differentiate.wanted import Wanted
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.vectorize.any_number import ForNumber, Vectorized
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.program.effects import ops_of_functions
from recursive_tf.python.program.reachable import needed_ops
from recursive_tf.python.tf_compat import FuncGraph


class KeptFrom(enum.Enum):
    """Where a value comes from that is kept for the deferred part of a block.

    Attributes:
        FORWARD: An input of the block, or what its forward part gives.
        COTANGENT: The gradient of an output of the block.
        BACKWARD: An extra of its backward part.
    """

    FORWARD = enum.auto()
    COTANGENT = enum.auto()
    BACKWARD = enum.auto()


@dataclasses.dataclass(frozen=True)
class Kept:
    """A value that is kept for the deferred part of a block.

    Attributes:
        source: What `index` counts.
        index: Which of these.
    """

    source: KeptFrom
    index: int


@dataclasses.dataclass(frozen=True)
class TrainingBlock:
    """Three functions of rows: a block, and the two parts of its gradient.

    Every row value has the number of rows in front. Forward values are numbered: the
    block's inputs, then what `forward` gives.

    Attributes:
        forward: Takes the block's inputs, then `forward_invariants`. Gives the block's
            outputs, then extras: what the gradient needs beside inputs and outputs.
        forward_invariants: Tensors of the prologue.
        num_extras: How many extras there are.
        tape: The forward values that `backward` takes first.
        cotangents: The outputs of the block whose gradients `backward` takes then,
            also if only `deferred` needs them.
        backward: Takes `tape`, `cotangents`, and `backward_invariants`. Gives the
            gradients of `input_gradients`, then extras that only `deferred` needs. None
            if it would give nothing.
        backward_invariants: Tensors of the prologue.
        input_gradients: The inputs of the block that have a gradient.
        num_backward_extras: How many extras `backward` gives.
        kept: What `deferred` takes first, of all launches of the block, one after the
            other. What is of the forward pass is kept even if there is no such part.
        deferred: Then takes `deferred_invariants`. Gives the gradients of
            `invariant_gradients`. None if there are none.
        deferred_invariants: Tensors of the prologue.
        invariant_gradients: A tensor of the prologue, and whether its gradient is
            slices: values and indices. Otherwise it is the sum over all rows. What is
            given for a tensor that is there repeatedly adds up.
    """

    forward: FuncGraph
    forward_invariants: tuple[tf.Tensor, ...]
    num_extras: int
    tape: tuple[int, ...]
    cotangents: tuple[int, ...]
    backward: FuncGraph | None
    backward_invariants: tuple[tf.Tensor, ...]
    input_gradients: tuple[int, ...]
    num_backward_extras: int
    kept: tuple[Kept, ...]
    deferred: FuncGraph | None
    deferred_invariants: tuple[tf.Tensor, ...]
    invariant_gradients: tuple[tuple[tf.Tensor, bool], ...]


def make_training_block(vectorized: Vectorized, wanted: Wanted) -> TrainingBlock:
    """Returns a block with its gradient, for any number of rows.

    What is wanted changes `backward` and `deferred` alone, and not what they take of
    the forward pass.

    Args:
        vectorized: The block. Gradients are added to its graphs, which then go.
        wanted: Which gradients it gives.

    Raises:
        CannotBatchError: If an op has no gradient, or one of its own; or if what is
            computed depends on how many rows there are.
    """
    made = vectorized.form(
        lambda number: _make(number, vectorized.block, wanted), _graphs_of, _rest_of
    )
    for each in vectorized.by_number:
        tf_compat.dismantle(each.rows.graph)
    return made


def _make(vectorized: ForNumber, block: Block, wanted: Wanted) -> TrainingBlock:
    joint = differentiate(vectorized)
    made = _Assembler(vectorized.rows, joint, block, wanted).run()
    tf_compat.dismantle(joint.graph)
    return made


def _graphs_of(made: TrainingBlock) -> list[FuncGraph]:
    graphs = (made.forward, made.backward, made.deferred)
    return [graph for graph in graphs if graph is not None]


def _rest_of(made: TrainingBlock) -> object:
    """Returns what is to be alike of a training block beside its graphs."""
    return (
        *(made.backward is None, made.deferred is None, made.num_extras, made.tape),
        *(made.cotangents, made.input_gradients, made.num_backward_extras, made.kept),
        [is_slices for _, is_slices in made.invariant_gradients],
    )


def check_gradient(program: FlatProgram, op: tf.Operation) -> None:
    """Raises CannotBatchError if `op` has a gradient of its own that is not batched."""
    for inner in (op, *ops_of_functions(op)):
        if program.own_gradients.has(inner):
            program.own_gradients.of(inner)


class _Assembler:
    """Makes a training block for a prime number of rows."""

    def __init__(
        self, rows: VectorizedBlock, joint: JointGraph, block: Block, wanted: Wanted
    ) -> None:
        self._block = rows
        self._joint = joint
        self._of_inputs = {
            index: gradient
            for index, gradient in joint.input_gradients.items()
            if wanted.of_input(block, index)
        }
        self._of_invariants = [
            (rows.invariants[index], parts)
            for index, parts in joint.invariant_gradients
            if wanted.of_invariant(rows.invariants[index])
        ]
        self._split = split(joint)
        known = set(map(id, self._joint.outputs))
        self._extras = [t for t in self._split.of_block if id(t) not in known]
        self._places = self._place_values()

    def run(self) -> TrainingBlock:
        joint, cut = self._joint, self._split
        late = [part for _, parts in self._of_invariants for part in parts]
        extras = cut.extras if late else []
        at_once = [*self._of_inputs.values(), *extras]
        needed = _leaves(at_once, cut.tape) | set(map(id, cut.kept))
        cotangents = {i: t for i, t in joint.cotangents.items() if id(t) in needed}

        forward = Part("forward", self._block, joint)
        forward.run(joint.rows, [*joint.outputs, *self._extras], joint.effects)
        backward = Part("backward", self._block, joint)
        backward.run([*cut.tape, *cotangents.values()], at_once)
        deferred = Part("deferred", self._block, joint)
        deferred.run(cut.kept, late)
        return TrainingBlock(
            forward=forward.graph,
            forward_invariants=tuple(forward.invariants),
            num_extras=len(self._extras),
            tape=tuple(self._places[id(tensor)].index for tensor in cut.tape),
            cotangents=tuple(cotangents),
            backward=backward.graph if at_once else None,
            backward_invariants=tuple(backward.invariants),
            input_gradients=tuple(self._of_inputs),
            num_backward_extras=len(extras),
            kept=tuple(self._places[id(tensor)] for tensor in cut.kept),
            deferred=deferred.graph if late else None,
            deferred_invariants=tuple(deferred.invariants),
            invariant_gradients=tuple(
                (tensor, len(parts) > 1) for tensor, parts in self._of_invariants
            ),
        )

    def _place_values(self) -> dict[int, Kept]:
        """Returns where what crosses between the parts comes from, by its id."""
        joint = self._joint
        forward = [*joint.rows, *joint.outputs, *self._extras]
        places: dict[int, Kept] = {}
        for source, values in (
            (KeptFrom.FORWARD, enumerate(forward)),
            (KeptFrom.COTANGENT, joint.cotangents.items()),
            (KeptFrom.BACKWARD, enumerate(self._split.extras)),
        ):
            for index, tensor in values:
                places.setdefault(id(tensor), Kept(source, index))
        return places


def _leaves(outputs: list[tf.Tensor], given: list[tf.Tensor]) -> set[int]:
    """Returns the ids of the inputs from which `outputs` follow, with what is given."""
    known = set(map(id, given))
    ops = needed_ops(outputs, lambda t: id(t) in known or is_leaf(t))
    read = [*(tensor for op in ops for tensor in op.inputs), *outputs]
    return {id(tensor) for tensor in read if is_leaf(tensor)}
