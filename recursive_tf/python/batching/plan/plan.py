"""The plan: what the batched executor follows, without a tensor in it.

It mirrors `recursive_tf/cc/batching/plan.h`, which says what the parts mean.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import tensorflow as tf

from recursive_tf.python.batching.flatten.flat_program import (
    FlatProcedure,
    FlatProgram,
    Wait,
)
from recursive_tf.python.batching.plan.blocks import Block, roots_of, roots_within
from recursive_tf.python.batching.plan.stages import Stages

NO_BLOCK = -1


@dataclasses.dataclass(frozen=True)
class Source:
    """A slot of the activation, or an output of the prologue."""

    index: int
    of_prologue: bool = False


@dataclasses.dataclass(frozen=True)
class Branch:
    """A procedure that may be invoked, and its arguments."""

    procedure: int
    arguments: tuple[Source, ...]


@dataclasses.dataclass(frozen=True)
class CallSite:
    """A call, a map over its first arguments, or a conditional with a selector."""

    site: int
    selector: Source | None
    branches: tuple[Branch, ...]
    first_result: int
    num_mapped: int = 0
    key: Source | None = None


@dataclasses.dataclass(frozen=True)
class List:
    """A slot that holds any number of items, what no items are, what counts them."""

    slot: int
    no_items: int
    count: Source


@dataclasses.dataclass(frozen=True)
class Push:
    """A row for a table."""

    table: int
    index: Source
    value: Source


@dataclasses.dataclass(frozen=True)
class Stage:
    """A block, pushes, and calls."""

    block: int
    inputs: tuple[tuple[Source, ...], ...]
    first_output: int
    num_outputs: int
    pushes: tuple[Push, ...]
    calls: tuple[CallSite, ...]


@dataclasses.dataclass(frozen=True)
class Procedure:
    """A body, a branch or a loop, cut into stages.

    At its end it returns its outputs, or goes on in another procedure.
    """

    name: str
    is_branch: bool
    num_arguments: int
    num_slots: int
    stages: tuple[Stage, ...]
    outputs: tuple[Source, ...]
    goes_on: Branch | None = None
    lists: tuple[List, ...] = ()


@dataclasses.dataclass(frozen=True)
class Plan:
    """A program for the batched executor.

    Attributes:
        procedures: The root call invokes the first.
        prologue: What is computed once a root call, as tensors of closed procedures.
        num_blocks: How many blocks there are.
    """

    procedures: tuple[Procedure, ...]
    prologue: tuple[tf.Tensor, ...]
    num_blocks: int


def make_plan(program: FlatProgram, stages: Stages, blocks: list[Block]) -> Plan:
    """Returns the plan of a program that was cut into `blocks`."""
    return _Planner(program, stages, blocks).plan()


class _Slots:
    """Where one procedure finds its values."""

    def __init__(
        self, program: FlatProgram, own: Iterable[tf.Tensor], prologue: dict[int, int]
    ) -> None:
        self._program = program
        self._prologue = prologue
        self._slots = {id(t): slot for slot, t in enumerate(own)}

    def __len__(self) -> int:
        return len(self._slots)

    def first_of(self, tensors: Sequence[tf.Tensor]) -> int:
        """Returns the first slot of values that stand side by side."""
        return self._slots[id(tensors[0])] if tensors else 0

    def source(self, tensor: tf.Tensor) -> Source:
        tensor = self._program.resolve(tensor)
        if id(tensor) in self._slots:
            return Source(self._slots[id(tensor)])
        return Source(self._prologue[id(tensor)], of_prologue=True)

    def sources(self, tensors: Iterable[tf.Tensor]) -> tuple[Source, ...]:
        return tuple(map(self.source, tensors))


class _Planner:
    def __init__(
        self, program: FlatProgram, stages: Stages, blocks: list[Block]
    ) -> None:
        self._program = program
        self._stages = stages
        self._blocks = blocks
        self._block_at = {(b.procedure, b.stage): i for i, b in enumerate(blocks)}
        self._indices = {p: i for i, p in enumerate(program.procedures)}
        self._waits_at: dict[tuple[FlatProcedure, int], list[Wait]] = {}
        for procedure in program.procedures:
            for wait in procedure.waits:
                at = procedure, stages.stage_of_wait[wait]
                self._waits_at.setdefault(at, []).append(wait)
        self._used: dict[FlatProcedure, list[tf.Tensor]] = {}
        shared = [t for t in roots_of(program) if not program.is_row(t)]
        shared += [program.lists.no_items_of(t) for t in _lists(program, blocks)]
        self._prologue = list({id(t): t for t in shared}.values())

    def plan(self) -> Plan:
        return Plan(
            tuple(map(self._plan_procedure, self._program.procedures)),
            tuple(self._prologue),
            len(self._blocks),
        )

    def _plan_procedure(self, procedure: FlatProcedure) -> Procedure:
        arguments = self._arguments(procedure)
        prologue = {id(t): i for i, t in enumerate(self._prologue)}
        own = [*arguments, *self._defined(procedure)]
        slots = _Slots(self._program, own, prologue)
        count = self._stages.counts[procedure]
        stages = [self._plan_stage(procedure, k, slots) for k in range(count)]
        return Procedure(
            procedure.name,
            procedure.around is not None,
            len(arguments),
            len(slots),
            tuple(s for s in stages if s.block != NO_BLOCK or s.pushes or s.calls),
            slots.sources(procedure.outputs),
            self._next_turn(procedure, slots),
            tuple(
                self._plan_list(t, slots) for t in own if self._program.lists.is_list(t)
            ),
        )

    def _plan_list(self, items: tf.Tensor, slots: _Slots) -> List:
        no_items = slots.source(self._program.lists.no_items_of(items)).index
        count = slots.source(self._program.lists.count_of(items))
        return List(slots.source(items).index, no_items, count)

    def _next_turn(self, procedure: FlatProcedure, slots: _Slots) -> Branch | None:
        loop = procedure.turns
        if loop is None:
            return None
        arguments = [*procedure.next_turn, *self._used_of_around(loop)]
        return Branch(self._indices[loop], slots.sources(arguments))

    def _plan_stage(self, procedure: FlatProcedure, index: int, slots: _Slots) -> Stage:
        block = self._block_at.get((procedure, index), NO_BLOCK)
        inputs, outputs = [], []
        if block != NO_BLOCK:
            own = self._blocks[block]
            inputs = [own.pieces_of(tensor) for tensor in own.inputs]
            outputs = own.outputs
        pushes = [
            op for op in procedure.pushes if self._stages.stage_of_push[op] == index
        ]
        waits = self._waits_at.get((procedure, index), ())
        return Stage(
            block=block,
            inputs=tuple(map(slots.sources, inputs)),
            first_output=slots.first_of(outputs),
            num_outputs=len(outputs),
            pushes=tuple(
                Push(
                    op.get_attr("slot"), *slots.sources(self._program.inputs_of(op)[1:])
                )
                for op in pushes
            ),
            calls=tuple(self._plan_wait(wait, slots) for wait in waits),
        )

    def _plan_wait(self, wait: Wait, slots: _Slots) -> CallSite:
        branches = []
        for branch in wait.branches:
            arguments = [*wait.arguments, *self._used_of_around(branch)]
            branches.append(Branch(self._indices[branch], slots.sources(arguments)))
        return CallSite(
            site=0 if wait.site is None else wait.site,
            num_mapped=wait.num_mapped,
            selector=None if wait.selector is None else slots.source(wait.selector),
            branches=tuple(branches),
            first_result=slots.first_of(wait.results),
            key=None if wait.key is None else slots.source(wait.key),
        )

    def _arguments(self, procedure: FlatProcedure) -> list[tf.Tensor]:
        return [*procedure.inputs, *self._used_of_around(procedure)]

    def _used_of_around(self, procedure: FlatProcedure) -> list[tf.Tensor]:
        """Returns the rows that a branch or a loop takes of the procedure around it.

        A turn of a loop takes what the next one will need, too.
        """
        used = self._used_within(procedure)
        if procedure.turns is not None:
            known = set(map(id, used))
            of_loop = self._used_of_around(procedure.turns)
            used = used + [t for t in of_loop if id(t) not in known]
        return used

    def _used_within(self, procedure: FlatProcedure) -> list[tf.Tensor]:
        """Returns the rows that a procedure, or a branch in it, reads but not makes."""
        if procedure.around is None:
            return []
        if procedure not in self._used:
            own = {id(t) for t in [*procedure.inputs, *self._defined(procedure)]}
            self._used[procedure] = list(
                {
                    id(t): t
                    for t in self._read(procedure)
                    if self._program.is_row(t) and id(t) not in own
                }.values()
            )
        return self._used[procedure]

    def _defined(self, procedure: FlatProcedure) -> Iterator[tf.Tensor]:
        """Yields what a procedure computes or gets, stage by stage."""
        for stage in range(self._stages.counts[procedure]):
            block = self._block_at.get((procedure, stage), NO_BLOCK)
            if block != NO_BLOCK:
                yield from self._blocks[block].outputs
            for wait in self._waits_at.get((procedure, stage), ()):
                yield from wait.results

    def _read(self, procedure: FlatProcedure) -> Iterator[tf.Tensor]:
        for block in self._blocks:
            if block.procedure is procedure:
                yield from block.sources()
        yield from roots_within(self._program, procedure)
        for wait in procedure.waits:
            if not wait.is_call:
                for branch in wait.branches:
                    yield from self._used_within(branch)


def _lists(program: FlatProgram, blocks: Sequence[Block]) -> Iterator[tf.Tensor]:
    """Yields the lists that stand in slots."""
    for block in blocks:
        yield from filter(program.lists.is_list, [*block.sources(), *block.outputs])
    for procedure in program.procedures:
        for wait in procedure.waits:
            if wait.num_mapped:
                yield from wait.arguments[: wait.num_mapped]
                yield from wait.results
