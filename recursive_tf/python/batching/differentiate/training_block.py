"""What runs for a block when the program will be differentiated."""

import dataclasses
import enum
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

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
from recursive_tf.python.batching.graphs.draft import (
    Drafted,
    DraftGraph,
    make_graph,
    needed_drafts,
)
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.vectorize.any_number import ForNumber, Vectorized
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.program.effects import ops_of_functions
from recursive_tf.python.tf_compat import FuncGraph

# What its graphs are: of TensorFlow, or drafts.
_Graph = TypeVar("_Graph")
_Other = TypeVar("_Other")


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
class _Parts(Generic[_Graph]):
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
            if there are no such gradients, for which other launches wait.
        backward_invariants: Tensors of the prologue.
        input_gradients: The inputs of the block that have a gradient.
        num_backward_extras: How many extras `backward` gives.
        kept_forward: The forward values that each launch keeps for its gradients, those
            that this one does not take included.
        kept: What `deferred` takes first, of all launches of the block, one after the
            other.
        deferred: Then takes `deferred_invariants`. Gives the gradients of
            `invariant_gradients`. None if there are none.
        deferred_invariants: Tensors of the prologue.
        invariant_gradients: A tensor of the prologue, and whether its gradient is
            slices: values and indices. Otherwise it is the sum over all rows. What is
            given for a tensor that is there repeatedly adds up.
    """

    forward: _Graph
    forward_invariants: tuple[tf.Tensor, ...]
    num_extras: int
    tape: tuple[int, ...]
    cotangents: tuple[int, ...]
    backward: _Graph | None
    backward_invariants: tuple[tf.Tensor, ...]
    input_gradients: tuple[int, ...]
    num_backward_extras: int
    kept_forward: tuple[int, ...]
    kept: tuple[Kept, ...]
    deferred: _Graph | None
    deferred_invariants: tuple[tf.Tensor, ...]
    invariant_gradients: tuple[tuple[tf.Tensor, bool], ...]

    def graphs(self) -> dict[str, _Graph]:
        """Returns the graphs that there are, by their names here."""
        parts = (
            ("forward", self.forward),
            ("backward", self.backward),
            ("deferred", self.deferred),
        )
        return {name: graph for name, graph in parts if graph is not None}

    def with_graphs(self, make: Callable[[_Graph], _Other]) -> "_Parts[_Other]":
        """Returns the same with what `make` makes of the graphs."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        made = {name: make(graph) for name, graph in self.graphs().items()}
        return _Parts(**(fields | made))


TrainingBlock: TypeAlias = _Parts[FuncGraph]


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
        lambda number: _draft(number, vectorized.block, wanted), _drafts_of, _rest_of
    )
    block = made.with_graphs(make_graph)
    for each in vectorized.by_number:
        tf_compat.dismantle(each.rows.graph)
    return block


def _draft(vectorized: ForNumber, block: Block, wanted: Wanted) -> _Parts[DraftGraph]:
    joint = differentiate(vectorized)
    return _Assembler(vectorized.rows, joint, block, wanted).run()


def _drafts_of(made: _Parts[DraftGraph]) -> list[DraftGraph]:
    return list(made.graphs().values())


def _rest_of(made: _Parts[DraftGraph]) -> object:
    """Returns what is to be alike of a training block beside its graphs."""
    return (
        *(made.backward is None, made.deferred is None, made.num_extras, made.tape),
        *(made.cotangents, made.input_gradients, made.num_backward_extras),
        *(made.kept_forward, made.kept),
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
        known = set(self._joint.outputs)
        self._extras = [t for t in self._split.of_block if t not in known]
        self._places = self._place_values()

    def run(self) -> _Parts[DraftGraph]:
        joint, cut = self._joint, self._split
        late = [part for _, parts in self._of_invariants for part in parts]
        is_cut = bool(self._of_inputs)
        extras = cut.extras if is_cut and late else []
        kept = cut.kept if is_cut else self._kept_uncut(late)
        at_once = [*self._of_inputs.values(), *extras]
        needed = _read(at_once, cut.tape) | set(kept)
        cotangents = {i: t for i, t in joint.cotangents.items() if t in needed}

        forward = Part("forward", self._block, joint)
        backward = Part("backward", self._block, joint)
        deferred = Part("deferred", self._block, joint)
        outputs = [*joint.outputs, *self._extras]
        return _Parts(
            forward=forward.run(joint.rows, outputs, joint.effects),
            forward_invariants=tuple(forward.invariants),
            num_extras=len(self._extras),
            tape=tuple(self._places[value].index for value in cut.tape),
            cotangents=tuple(cotangents),
            backward=(
                backward.run([*cut.tape, *cotangents.values()], at_once)
                if at_once
                else None
            ),
            backward_invariants=tuple(backward.invariants),
            input_gradients=tuple(self._of_inputs),
            num_backward_extras=len(extras),
            kept_forward=tuple(
                sorted({self._places[value].index for value in self._kept_forward()})
            ),
            kept=tuple(self._places[value] for value in kept),
            deferred=deferred.run(kept, late) if late else None,
            deferred_invariants=tuple(deferred.invariants),
            invariant_gradients=tuple(
                (tensor, len(parts) > 1) for tensor, parts in self._of_invariants
            ),
        )

    def _kept_forward(self) -> list[Drafted]:
        """Returns the forward values from which any of the gradients follow."""
        kept = dict.fromkeys([*self._split.tape, *self._split.kept])
        return [v for v in kept if self._places[v].source is KeptFrom.FORWARD]

    def _kept_uncut(self, late: list[Drafted]) -> list[Drafted]:
        """Returns what the whole gradient follows from, if nothing waits for it.

        Two parts would be a launch more, and the second would wait for the first.
        """
        forward = self._kept_forward()
        read = _read(late, forward)
        candidates = dict.fromkeys([*forward, *self._joint.cotangents.values()])
        return [value for value in candidates if value in read]

    def _place_values(self) -> dict[Drafted, Kept]:
        """Returns where what crosses between the parts comes from."""
        joint = self._joint
        forward = [*joint.rows, *joint.outputs, *self._extras]
        places: dict[Drafted, Kept] = {}
        for source, values in (
            (KeptFrom.FORWARD, enumerate(forward)),
            (KeptFrom.COTANGENT, joint.cotangents.items()),
            (KeptFrom.BACKWARD, enumerate(self._split.extras)),
        ):
            for index, value in values:
                places.setdefault(value, Kept(source, index))
        return places


def _read(outputs: list[Drafted], given: list[Drafted]) -> set[Drafted]:
    """Returns the inputs, and what is given, from which `outputs` follow."""
    shapes = {v.op.inputs[0]: v for v in given if v.op.type == "Reshape"}
    known = {v: v for v in given}
    drafts = needed_drafts(outputs, lambda v: v in shapes or v in known or is_leaf(v))
    read = [*(value for draft in drafts for value in draft.inputs), *outputs]
    return {known.get(v) or shapes.get(v) or v for v in read}
