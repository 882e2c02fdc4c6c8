"""A closed program without nesting: what may wait is a procedure of its own.

A procedure waits where it calls a SubGraph and where it takes a branch: which one may
differ from activation to activation. So the branches of a conditional are procedures,
called where the conditional stands, with what they use of the procedure around them.
So is a loop that activations may leave at different turns, or that waits itself: a
procedure that looks whether it goes on, and a branch of it that takes a turn and begins
it again.
"""

import dataclasses
from collections.abc import Iterator, Sequence

import tensorflow as tf

from recursive_tf.python.batching.flatten.item_lists import ItemLists
from recursive_tf.python.batching.flatten.made_ops import MadeOps
from recursive_tf.python.batching.flatten.own_gradients import OwnGradients
from recursive_tf.python.batching.flatten.total import Lateness
from recursive_tf.python.program.effects import has_effect
from recursive_tf.python.tf_compat import FuncGraph


@dataclasses.dataclass(eq=False)
class Wait:
    """A place where a procedure waits for another.

    Attributes:
        op: The call, the conditional or the loop, whose outputs hold the results.
        branches: The procedures that may be invoked. For a conditional on a bool that
            is the one for false, then the one for true.
        selector: What says which of them, by number; None if there is one.
        arguments: What it gets, beside what it uses of the procedure around it.
        results: What it returns.
        site: Of a call of a SubGraph, within its body.
        num_mapped: Of a map, how many of the first arguments are lists: it calls once
            for each item.
        count: By what these are counted.
        key: Of a front, which waits for what it shares: who has the same one shares it.
    """

    op: tf.Operation
    branches: list["FlatProcedure"]
    selector: tf.Tensor | None = None
    arguments: list[tf.Tensor] = dataclasses.field(default_factory=list)
    results: list[tf.Tensor] = dataclasses.field(default_factory=list)
    site: int | None = None
    num_mapped: int = 0
    count: tf.Tensor | None = None
    key: tf.Tensor | None = None

    @property
    def is_call(self) -> bool:
        """Whether it invokes a SubGraph."""
        return self.site is not None

    @property
    def inputs(self) -> list[tf.Tensor]:
        """What the procedure must have for it, beside what its branches use."""
        decides = [self.selector, self.key, self.count]
        return [tensor for tensor in decides if tensor is not None] + self.arguments


@dataclasses.dataclass(eq=False)
class FlatProcedure:
    """A SubGraph's body, or a branch or a loop in it that is waited for.

    Attributes:
        part: What it is of the procedure around it, e.g. a branch: see branch_names.py.
        around: The procedure that a branch stands in; None for a body.
        inputs: Its arguments. What a branch uses of `around` is not named here.
        ops: What computes rows, one an activation, in the order of the graph.
        waits: Its calls, conditionals and loops, in order.
        pushes: Its pushes, in order.
        outputs: What it returns.
        turns: The loop that a loop's body begins again at its end, instead of
            returning; it is around it.
        next_turn: The arguments of that loop then.
        name: In the program that was compiled; see procedure_names.py.
    """

    part: str
    around: "FlatProcedure | None"
    inputs: list[tf.Tensor]
    ops: list[tf.Operation] = dataclasses.field(default_factory=list)
    waits: list[Wait] = dataclasses.field(default_factory=list)
    pushes: list[tf.Operation] = dataclasses.field(default_factory=list)
    outputs: list[tf.Tensor] = dataclasses.field(default_factory=list)
    turns: "FlatProcedure | None" = None
    next_turn: list[tf.Tensor] = dataclasses.field(default_factory=list)
    name: str = ""


class FlatProgram:
    """The procedures of a closed program, flattened, and what is known of its values.

    Attributes:
        graphs: The closed procedures: handle, inputs and captures are arguments.
        procedures: Those of the SubGraphs first, in their order, then the branches.
        captures: Which capture of the program an argument of a graph is, by id.
        made: Its ops that no closed procedure has.
        lists: Which values are lists.
        own_gradients: Which ops have one.
    """

    def __init__(self, graphs: Sequence[FuncGraph]) -> None:
        self.graphs = list(graphs)
        self.procedures: list[FlatProcedure] = []
        self.captures: dict[int, int] = {}
        self.made = MadeOps()
        self.lists = ItemLists(self.made)
        self.own_gradients = OwnGradients(self.resolve, self.has)
        self._aliases: dict[int, tf.Tensor] = {}
        self._inputs_of: dict[tf.Operation, list[tf.Tensor]] = {}
        self._waiting: set[tf.Operation] = set()
        self._order: dict[tf.Operation, int] = {}
        self._is_row: dict[int, bool] = {}
        self._lateness = Lateness(
            self.inputs_of, lambda tensor: id(tensor) in self.captures
        )

    # --- What is known of its values

    def resolve(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the tensor that computes what `tensor` is, through any nesting."""
        while id(tensor) in self._aliases:
            tensor = self._aliases[id(tensor)]
        return tensor

    def inputs_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns what computes the inputs of `op`.

        What a gradient of its own uses beside these comes after them.
        """
        known = self._inputs_of.get(op)
        if known is not None:
            return known
        inputs = [self.resolve(tensor) for tensor in op.inputs]
        return inputs + self.own_gradients.used_by(op)

    def reads_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns the same, and by what the lists that `op` is about are counted."""
        inputs = self.inputs_of(op)
        return inputs + self.lists.of_op(op, inputs)

    def has(self, tensor: tf.Tensor) -> bool:
        """Says whether a tensor is of one of the procedures."""
        return tensor.op in self._order

    def order_of(self, op: tf.Operation) -> int:
        """Returns where `op` stands in the program; an op comes after its inputs.

        Constants that were made have no place, and come first.
        """
        return self._order[op] if op.inputs else self._order.get(op, -1)

    def is_row(self, tensor: tf.Tensor) -> bool:
        """Says whether a resolved tensor may differ from activation to activation."""
        known = self._is_row.get(id(tensor))
        if known is None:
            known = self._is_row[id(tensor)] = self._depends_on_activation(tensor)
        return known

    def is_late(self, tensor: tf.Tensor) -> bool:
        """Says whether a resolved tensor, the same for all, may not be hoisted."""
        return not self.is_row(tensor) and self._lateness.of(tensor)

    def _depends_on_activation(self, tensor: tf.Tensor) -> bool:
        op = tensor.op
        if id(tensor) in self.captures:
            return False
        if op.type == "Placeholder" or op in self._waiting:
            return True
        if has_effect(op) or self.own_gradients.differ(op):
            return True
        return any(self.is_row(i) for i in self.inputs_of(op))

    # --- What flattening says of them

    def bind(self, tensors: Sequence[tf.Tensor], to: Sequence[tf.Tensor]) -> None:
        """Makes tensors stand for what computes them."""
        for tensor, target in zip(tensors, to, strict=True):
            self._aliases[id(tensor)] = target

    def set_inputs(self, op: tf.Operation, inputs: list[tf.Tensor]) -> None:
        """Makes an op take something else than its graph says."""
        self._inputs_of[op] = inputs

    def add_last(self, op: tf.Operation) -> tf.Operation:
        """Makes an op the last one of the program so far."""
        self._order[op] = len(self._order)
        return op

    def wait(self, procedure: FlatProcedure, wait: Wait) -> None:
        """Makes a procedure wait."""
        self._waiting.add(wait.op)
        procedure.waits.append(wait)


def around(procedure: FlatProcedure) -> Iterator[FlatProcedure]:
    """Yields a procedure, what it is in, and so on."""
    at: FlatProcedure | None = procedure
    while at is not None:
        yield at
        at = at.around
