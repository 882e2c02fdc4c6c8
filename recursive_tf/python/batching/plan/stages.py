"""Which ops of a procedure run before its first wait, which after it, and so on."""

import dataclasses
from collections.abc import Collection

import tensorflow as tf

from recursive_tf.python.batching.flatten.flat_program import (
    FlatProcedure,
    FlatProgram,
    Wait,
)
from recursive_tf.python.batching.flatten.total import is_total_and_smooth
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.program.effects import has_effect
from recursive_tf.python.program.heavy import is_heavy

# Cheap enough to be computed for activations that do not want it.
_CHEAP = frozenset(
    (
        *("AddV2", "Cast", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual"),
        *("LogicalAnd", "LogicalNot", "LogicalOr", "Maximum", "Minimum", "Mul"),
        *("Neg", "NotEqual", "Pack", "RecursiveMixKey", "SelectV2", "Sub"),
    )
)


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which activations want a lookup that is made with a condition, for all of them.

    Attributes:
        selector: What says of each activation which branch it takes.
        branch: The number of theirs.
        is_last: Whether that is the last branch, which takes all other numbers, too.
    """

    selector: tf.Tensor
    branch: int
    is_last: bool


class Stages:
    """The stages of all procedures of a program.

    A stage computes, pushes, and then waits for all of its calls. An op stands in the
    last stage that is early enough for who reads it, so that little is alive while a
    procedure waits, unless it would be alone there; a heavy one in the first where its
    inputs are there, as is one with an effect.

    Attributes:
        place: The procedure and the stage in which each op is computed. That is not
            the op's own for what is only there to prepare the calls of a branch: it
            is computed with the branch's condition, which saves a launch.
        stage_of_wait: The stage of each wait in its procedure.
        stage_of_push: The stage of each push in its procedure.
        counts: How many stages each procedure has.
        wanted: Of the lookups that are computed with a condition instead: who wants
            them. Others may ask for what is not there.
    """

    def __init__(self, program: FlatProgram) -> None:
        self._program = program
        self.place: dict[tf.Operation, tuple[FlatProcedure, int]] = {}
        self.stage_of_wait: dict[Wait, int] = {}
        self.stage_of_push: dict[tf.Operation, int] = {}
        self.counts: dict[FlatProcedure, int] = {}
        self.wanted: dict[tf.Operation, Wanted] = {}
        self._branches = _branches_within(program)
        for procedure in program.procedures:
            self._assign(procedure)
        for procedure in program.procedures:
            self._speculate(procedure)

    def reads_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns what an op reads, and what says who wants it."""
        wanted = self.wanted.get(op)
        selectors = [] if wanted is None else [wanted.selector]
        return [*self._program.reads_of(op), *selectors]

    def _uses_of(self, wait: Wait) -> list[tf.Tensor]:
        """Returns what a procedure must have for a wait, for its branches included."""
        used = list(wait.inputs)
        if not wait.is_call:
            for branch in wait.branches:
                used += self._used_within(branch)
        return used

    def _used_within(self, procedure: FlatProcedure) -> list[tf.Tensor]:
        ops = [*procedure.ops, *procedure.pushes]
        used = [i for op in ops for i in self._program.reads_of(op)]
        used += [t for wait in procedure.waits for t in self._uses_of(wait)]
        return used + procedure.outputs + procedure.next_turn

    def _inputs_of(
        self, op: tf.Operation, waits: dict[tf.Operation, Wait]
    ) -> list[tf.Tensor]:
        """Returns what must be there before an op, or a wait, of a procedure."""
        if op not in waits:
            return self._program.reads_of(op)
        used = self._uses_of(waits[op])
        if any(branch.turns for branch in waits[op].branches):
            # A loop begins again when nothing of the turn before is waited for.
            used += [
                t for other in waits if other is not op for t in waits[other].results
            ]
        return used

    def _assign(self, procedure: FlatProcedure) -> None:
        waits = {wait.op: wait for wait in procedure.waits}
        own = sorted([*procedure.ops, *waits], key=self._program.order_of)
        inputs = {op: self._inputs_of(op, waits) for op in own}
        earliest: dict[tf.Operation, int] = {}
        for op in own:
            producers = [t.op for t in inputs[op] if t.op in earliest]
            earliest[op] = max(
                (earliest[p] + (p in waits) for p in producers), default=0
            )
        last = max((stage + (op in waits) for op, stage in earliest.items()), default=0)
        latest = dict.fromkeys(own, last)
        for op in reversed(own):
            # What comes after heavy ones is shorter if they run as early as possible.
            # An assertion may be what ends a recursion.
            if op in waits or is_heavy(op) or has_effect(op):
                latest[op] = earliest[op]
            for tensor in inputs[op]:
                producer = tensor.op
                if producer in latest:
                    before = latest[op] - (producer in waits)
                    latest[producer] = min(latest[producer], before)
        _merge_stages(latest, earliest, waits)
        for op, wait in waits.items():
            self.stage_of_wait[wait] = latest[op]
        for op in procedure.ops:
            self.place[op] = (procedure, latest[op])
        for push in procedure.pushes:
            producers = [t.op for t in self._program.inputs_of(push)]
            self.stage_of_push[push] = max(
                (latest[p] + (p in waits) for p in producers if p in latest), default=0
            )
        self.counts[procedure] = last + 1

    def _speculate(self, procedure: FlatProcedure) -> None:
        """Moves what only prepares a branch's calls to the branch's condition."""
        around = procedure.around
        # A loop's variables are others at each turn.
        if around is None or procedure.inputs or not procedure.waits:
            return
        wait = self._branches[procedure]
        if wait.selector is None or self._program.is_late(wait.selector):
            return
        order_of = self._program.order_of
        # What is the same for all may be made a row after the branch: too late.
        if any(order_of(op) < order_of(wait.selector.op) for op in procedure.ops):
            return
        branch = wait.branches.index(procedure)
        wanted = Wanted(wait.selector, branch, branch == len(wait.branches) - 1)
        target = (around, self.stage_of_wait[wait])
        for op in procedure.ops:
            if self.place[op] == (procedure, 0) and self._may_speculate(op, procedure):
                self.place[op] = target
                if self._is_total_lookup(op):
                    self.wanted[op] = wanted

    def _may_speculate(self, op: tf.Operation, procedure: FlatProcedure) -> bool:
        is_free = op.type in _CHEAP and is_total_and_smooth(
            op, self._program.inputs_of(op)
        )
        return (is_free or self._is_total_lookup(op)) and not any(
            self._program.is_late(t) or self.place.get(t.op, (None,))[0] is procedure
            for t in self._program.reads_of(op)
        )

    def _is_total_lookup(self, op: tf.Operation) -> bool:
        """Says whether an op looks up what its rule can do for any index at all.

        An index that is out of range is an error of those who want the row.
        """
        if op.type not in ("GatherV2", "StridedSlice"):
            return False
        values, indices, axis, *_ = self._program.inputs_of(op)
        if self._program.is_row(values) or not op.outputs[0].dtype.is_integer:
            return False
        if not indices.shape.is_fully_defined():  # A list: its rows are items.
            return False
        if op.type == "StridedSlice":
            # Each entry is an index: `left[node]`.
            return bool(op.get_attr("shrink_axis_mask") == 2 ** axis.shape[0] - 1)
        return bool(not op.get_attr("batch_dims") and static_value(axis) == 0)


def _merge_stages(
    stages: dict[tf.Operation, int],
    earliest: dict[tf.Operation, int],
    waits: Collection[tf.Operation],
) -> None:
    """Moves ops to the stage before where nothing has to run in theirs.

    A launch costs more than to keep a few values while a procedure waits.
    """
    for stage in range(max(stages.values(), default=0), 0, -1):
        ops = [op for op, at in stages.items() if at == stage and op not in waits]
        if all(earliest[op] < stage for op in ops):
            stages.update(dict.fromkeys(ops, stage - 1))


def _branches_within(program: FlatProgram) -> dict[FlatProcedure, Wait]:
    """Returns the conditional that each branch is of."""
    return {
        branch: wait
        for procedure in program.procedures
        for wait in procedure.waits
        if not wait.is_call
        for branch in wait.branches
    }
