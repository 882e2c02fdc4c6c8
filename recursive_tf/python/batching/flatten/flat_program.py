"""A closed program without nesting: what may wait is a procedure of its own.

A procedure waits where it calls a SubGraph and where it takes a branch: which one may
differ from activation to activation. So the branches of a conditional are procedures,
called where the conditional stands, with what they use of the procedure around them.
So is a loop that activations may leave at different turns, or that waits itself: a
procedure that looks whether it goes on, and a branch of it that takes a turn and begins
it again.
"""

import dataclasses
from collections.abc import Collection, Iterator, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.branch_names import branch_names, unique_among
from recursive_tf.python.batching.flatten.item_lists import ItemLists, may_be_list
from recursive_tf.python.batching.flatten.made_ops import MadeOps
from recursive_tf.python.batching.flatten.own_gradient import (
    OwnGradient,
    trace_own_gradient,
)
from recursive_tf.python.batching.flatten.total import Lateness, is_smooth
from recursive_tf.python.batching.refusal import CannotBatchError, varying
from recursive_tf.python.program.closed_graph import CALLS, MAPS, PUSHES, SHARED_CALLS
from recursive_tf.python.program.effects import contains, has_effect, ops_of_functions
from recursive_tf.python.program.graph_copy import CONDITIONALS, LOOPS, branch_graphs
from recursive_tf.python.tf_compat import FuncGraph
from recursive_tf.python.tracing.signature import count_of_rows


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
        name: Of the SubGraph, with the branch: see branch_names.py.
        around: The procedure that a branch stands in; None for a body.
        inputs: Its arguments. What a branch uses of `around` is not named here.
        ops: What computes rows, one an activation, in the order of the graph.
        waits: Its calls, conditionals and loops, in order.
        pushes: Its pushes, in order.
        outputs: What it returns.
        turns: The loop that a loop's body begins again at its end, instead of
            returning; it is around it.
        next_turn: The arguments of that loop then.
    """

    name: str
    around: "FlatProcedure | None"
    inputs: list[tf.Tensor]
    ops: list[tf.Operation] = dataclasses.field(default_factory=list)
    waits: list[Wait] = dataclasses.field(default_factory=list)
    pushes: list[tf.Operation] = dataclasses.field(default_factory=list)
    outputs: list[tf.Tensor] = dataclasses.field(default_factory=list)
    turns: "FlatProcedure | None" = None
    next_turn: list[tf.Tensor] = dataclasses.field(default_factory=list)


class FlatProgram:
    """The procedures of a closed program, flattened.

    Attributes:
        graphs: The closed procedures: handle, inputs and captures are arguments.
        procedures: Those of the SubGraphs first, in their order, then the branches.
        captures: Which capture of the program an argument of a graph is, by id.

    Args:
        graphs: The closed procedures.
        capture_indices: Which captures of the program the last arguments of each are.
        names: Of the SubGraphs.
        waiting_loops: Loops without a call that are procedures all the same.

    Raises:
        CannotBatchError: If a list is where none can be.
    """

    def __init__(
        self,
        graphs: Sequence[FuncGraph],
        capture_indices: Sequence[Sequence[int]],
        names: Sequence[str],
        waiting_loops: Collection[tf.Operation] = (),
    ) -> None:
        self.graphs = list(graphs)
        self._waiting_loops = waiting_loops
        self._made = MadeOps()
        self._lists = ItemLists()
        self._no_items: dict[object, tf.Tensor] = {}
        self.captures: dict[int, int] = {}
        self.procedures: list[FlatProcedure] = []
        self._aliases: dict[int, tf.Tensor] = {}
        self._inputs_of_push: dict[tf.Operation, list[tf.Tensor]] = {}
        self._has_own_gradient: dict[tf.Operation, bool] = {}
        self._own_gradients: dict[tf.Operation, OwnGradient | CannotBatchError] = {}
        self._first_of_capture: dict[int, tf.Tensor] = {}
        self._is_row: dict[int, bool] = {}
        self._lateness = Lateness(
            self.inputs_of, lambda tensor: id(tensor) in self.captures
        )
        self._waiting: set[tf.Operation] = set()
        self._known: dict[FlatProcedure, dict[object, tf.Operation]] = {}
        self._order: dict[tf.Operation, int] = {}
        self._names = set(names)
        for graph, indices, name in zip(graphs, capture_indices, names, strict=True):
            first = len(graph.inputs) - len(indices)
            for argument, index in zip(graph.inputs[first:], indices, strict=True):
                self._bind_capture(argument, index)
            body = FlatProcedure(name, None, list(graph.inputs[1:first]))
            self.procedures.append(body)
        self._name_shared_bodies()
        for graph, body in zip(graphs, list(self.procedures), strict=True):
            body.outputs = self._flatten(graph, body)
        # The first one always runs, if there are rows at all.
        for procedure in self.procedures[1:]:
            self._take_late_as_rows(procedure)
        for procedure in self.procedures:
            self._check_lists(procedure)

    def resolve(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the tensor that computes what `tensor` is, through any nesting."""
        while id(tensor) in self._aliases:
            tensor = self._aliases[id(tensor)]
        return tensor

    def inputs_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns what computes the inputs of `op`.

        What a gradient of its own uses beside these comes after them.
        """
        known = self._inputs_of_push.get(op)
        if known is not None:
            return known
        inputs = [self.resolve(tensor) for tensor in op.inputs]
        if self.has_own_gradient(op):
            inputs += self._used_by_gradient(op)
        return inputs

    def has_own_gradient(self, op: tf.Operation) -> bool:
        """Says whether `op`, of any closed graph, has a gradient of its own."""
        known = self._has_own_gradient.get(op)
        if known is None:
            known = self._has_own_gradient[op] = tf_compat.has_custom_gradient(op)
        return known

    def differs_in_gradient(self, op: tf.Operation) -> bool:
        """Says whether `op`, or one in its branches, has a gradient of its own.

        What that is of a sum need not be the sum of what it is of each: it may clip. So
        each activation has its own, also of what all activations share.
        """
        if op.type in LOOPS | CONDITIONALS:
            return any(map(self.has_own_gradient, ops_of_functions(op)))
        return self.has_own_gradient(op)

    def own_gradient(self, op: tf.Operation) -> OwnGradient:
        """Returns the gradient that `op`, of any closed graph, has of its own.

        Raises:
            CannotBatchError: If that cannot be batched.
        """
        if op not in self._own_gradients:
            try:
                self._own_gradients[op] = trace_own_gradient(op)
            except CannotBatchError as error:
                self._own_gradients[op] = error
        found = self._own_gradients[op]
        if isinstance(found, CannotBatchError):
            raise found
        return found

    def _used_by_gradient(self, op: tf.Operation) -> list[tf.Tensor]:
        try:
            captures = self.own_gradient(op).captures
        except CannotBatchError:  # It runs all the same, if nobody wants a gradient.
            return []
        used = [
            self.resolve(tensor)
            for tensor in captures
            if not isinstance(tensor, tf_compat.EagerTensor) and tensor.op is not op
        ]
        unknown = [tensor for tensor in used if not self.has(tensor)]
        if unknown:
            self._own_gradients[op] = CannotBatchError(
                op,
                "it has a gradient of its own, e.g. of tf.custom_gradient, which uses "
                f"{unknown[0].name}, and the SubGraph does not. Make it an argument of "
                "the function with the gradient, or use the dataflow executor.",
            )
            return []
        return used

    def has(self, tensor: tf.Tensor) -> bool:
        """Says whether a tensor is of one of the procedures."""
        return tensor.op in self._order

    def reads_of(self, op: tf.Operation) -> list[tf.Tensor]:
        """Returns the same, and by what the lists that `op` is about are counted."""
        inputs = self.inputs_of(op)
        return inputs + self._lists.of_op(op, inputs)

    def is_list(self, tensor: tf.Tensor) -> bool:
        """Says whether a resolved tensor has any number of items: see item_lists.py."""
        return self._lists.is_list(tensor)

    def origin_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the list with which the axis of a list came to be."""
        return self._lists.origin_of(tensor)

    def count_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns a vector that begins with the number of items of a list."""
        return self._lists.count_of(tensor)

    def origin_for(self, op: tf.Operation) -> tf.Tensor | None:
        """Returns the axis of what `op` makes of a size, if that counts items."""
        return self._lists.origin_for(op, self.inputs_of(op))

    def no_items_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns a constant that is like a list, but has no items."""
        key = (tensor.dtype, tuple(tensor.shape))
        if key not in self._no_items:
            self._no_items[key] = self._made.no_rows(tensor)
        return self._no_items[key]

    def order_of(self, op: tf.Operation) -> int:
        """Returns where `op` stands in the program; an op comes after its inputs."""
        return self._order[op]

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
        if has_effect(op) or self.differs_in_gradient(op):
            return True
        return any(self.is_row(i) for i in self.inputs_of(op))

    def _bind_capture(self, argument: tf.Tensor, index: int) -> None:
        """Makes one tensor stand for a capture in all procedures."""
        first = self._first_of_capture.setdefault(index, argument)
        self.captures[id(first)] = index
        if first is not argument:
            self._aliases[id(argument)] = first

    def _bind(self, tensors: Sequence[tf.Tensor], to: Sequence[tf.Tensor]) -> None:
        for tensor, target in zip(tensors, to, strict=True):
            self._aliases[id(tensor)] = target

    def _flatten(self, graph: FuncGraph, procedure: FlatProcedure) -> list[tf.Tensor]:
        """Adds the ops of a graph, and returns its outputs."""
        for op in graph.get_operations():
            self._order[op] = len(self._order)
            self._add(op, procedure)
        return [self.resolve(output) for output in graph.outputs]

    def _add(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        if op.type in ("Placeholder", "NoOp"):
            return
        if op.type == "Identity" and not self.has_own_gradient(op):
            self._bind(op.outputs, op.inputs)
        elif op.type in PUSHES:
            procedure.pushes.append(op)
        elif op.type in MAPS:
            self._add_map(op, procedure)
        elif op.type in SHARED_CALLS:
            self._add_shared_call(op, procedure)
        elif op.type in CALLS:
            callee = self.procedures[op.get_attr("callee")]
            arguments = [self.resolve(tensor) for tensor in list(op.inputs)[1:]]
            results = list(op.outputs)[:-1]  # The last names it to a gradient.
            site = op.get_attr("site")
            self._wait(procedure, Wait(op, [callee], None, arguments, results, site))
        elif op.type in CONDITIONALS and self._concerns_rows(op):
            self._add_branches(op, procedure)
        elif op.type in LOOPS and self._is_procedure(op):
            self._add_loop(op, procedure)
        else:
            self._add_computation(op, procedure)

    def _name_shared_bodies(self) -> None:
        """Makes the bodies of memoized SubGraphs branches of their fronts."""
        for graph, front in zip(self.graphs, list(self.procedures), strict=True):
            for op in graph.get_operations():
                if op.type in SHARED_CALLS:
                    body = self.procedures[op.get_attr("callee")]
                    body.around = front
                    body.name = self._name_of(f"{front.name}/shared")

    def _add_shared_call(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        body = self.procedures[op.get_attr("callee")]
        key, *arguments = (self.resolve(tensor) for tensor in list(op.inputs)[1:])
        results = list(op.outputs)[:-1]  # The last names it to a gradient.
        self._wait(procedure, Wait(op, [body], None, arguments, results, key=key))

    def _concerns_rows(self, op: tf.Operation) -> bool:
        """Says whether activations may differ in what a conditional does for them."""
        return contains(op, CALLS | PUSHES) or any(map(self.is_row, self.inputs_of(op)))

    def _add_branches(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        graphs = branch_graphs(op)
        if "Case" not in op.type:
            graphs.reverse()  # By number: what is true is 1.
        branches = [
            FlatProcedure(self._name_of(f"{procedure.name}/{name}"), procedure, [])
            for name in branch_names(op, graphs)
        ]
        selector = self.resolve(op.inputs[0])
        wait = Wait(op, branches, selector, results=list(op.outputs))
        self._wait(procedure, wait)
        for graph, branch in zip(graphs, branches, strict=True):
            self._bind(graph.inputs, list(op.inputs)[1:])
            self.procedures.append(branch)
            branch.outputs = self._flatten(graph, branch)

    def _add_map(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        """Adds a call for each item of lists."""
        first_shared = len(op.inputs) - op.get_attr("num_shared")
        mapped = [self.resolve(tensor) for tensor in op.inputs[1:first_shared]]
        shared = [self.resolve(tensor) for tensor in op.inputs[first_shared:]]
        outputs = list(op.outputs)[:-1]
        callee = self.procedures[op.get_attr("callee")]
        site = op.get_attr("site")
        if self._are_of_one_axis(mapped):
            arguments = [*mapped, *shared]
            wait = Wait(op, [callee], None, arguments, outputs, site, len(mapped))
            self._wait_for_items(procedure, wait)
            return
        count = self._count_of_rows(op, mapped)
        if not count:
            self._bind(outputs, list(map(self._made.no_rows, outputs)))
            return
        lists = [self._as_list(tensor, count, op, procedure) for tensor in mapped]
        specs = [tf.TensorSpec([None, *t.shape[1:]], t.dtype) for t in outputs]
        made = self._order_last(self._made.values_like(specs))
        tf_compat.set_origin(made, op)
        results = list(made.outputs)
        arguments = [*lists, *shared]
        wait = Wait(made, [callee], None, arguments, results, site, len(mapped))
        self._wait_for_items(procedure, wait)
        for output, items in zip(outputs, results, strict=True):
            rows = self._made.from_list(items, count)
            self._add_made(rows, [items], output.op, procedure)
            self._bind([output], rows.outputs)

    def _wait_for_items(self, procedure: FlatProcedure, wait: Wait) -> None:
        wait.count = self.count_of(wait.arguments[0])
        for result in wait.results:
            if not result.shape[1:].is_fully_defined():
                raise varying(result)
            self._lists.add_like(result, wait.arguments[0])
        self._wait(procedure, wait)

    def _are_of_one_axis(self, tensors: Sequence[tf.Tensor]) -> bool:
        if not all(map(self.is_list, tensors)):
            return False
        return len({id(self.origin_of(tensor)) for tensor in tensors}) == 1

    def _count_of_rows(self, op: tf.Operation, arguments: Sequence[tf.Tensor]) -> int:
        count = count_of_rows(arguments)
        if any(map(self.is_list, arguments)):
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
        of_activation = self._any_row(rows, op, procedure)
        made = self._made.as_list(rows, of_activation)
        self._add_made(made, [rows, of_activation], op, procedure)
        items = self.resolve(made.outputs[0])
        if self.origin_of(items) is items:
            self._lists.set_count(items, self._made.constant([count]))
        return items

    def _any_row(
        self, tensor: tf.Tensor, op: tf.Operation, procedure: FlatProcedure
    ) -> tf.Tensor:
        """Returns `tensor`, if activations have their own, or else what they do."""
        candidates = [tensor, *(t for at in around(procedure) for t in at.inputs)]
        found = next(filter(self.is_row, candidates), None)
        if found is None:
            raise CannotBatchError(
                op,
                "it is in a SubGraph without inputs. Give it one, or use the dataflow "
                "executor.",
            )
        return found

    def _add_made(
        self,
        made: tf.Operation,
        inputs: Sequence[tf.Tensor],
        source: tf.Operation,
        procedure: FlatProcedure,
    ) -> None:
        self._order_last(made)
        tf_compat.set_origin(made, source)
        self._bind(made.inputs, inputs)
        self._add_computation(made, procedure)

    def _order_last(self, op: tf.Operation) -> tf.Operation:
        self._order[op] = len(self._order)
        return op

    def _is_procedure(self, op: tf.Operation) -> bool:
        return op in self._waiting_loops or contains(op, CALLS | PUSHES)

    def _add_loop(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        """Adds a procedure for a loop, and in it a branch for another turn."""
        condition, body = branch_graphs(op)
        own = [i for i in range(len(body.outputs)) if not _is_kept(body, i)]
        kept = [i for i in range(len(body.outputs)) if i not in own]
        for tensors in (condition.inputs, body.inputs, op.outputs):
            self._bind([tensors[i] for i in kept], [op.inputs[i] for i in kept])
        variables = [condition.inputs[i] for i in own]
        self._bind([body.inputs[i] for i in own], variables)
        name = self._name_of(f"{procedure.name}/loop")
        loop = FlatProcedure(name, procedure, variables)
        turn = FlatProcedure(self._name_of(f"{name}/turn"), loop, [], turns=loop)
        end = FlatProcedure(self._name_of(f"{name}/end"), loop, [])
        start = [self.resolve(op.inputs[i]) for i in own]
        results = [op.outputs[i] for i in own]
        self._wait(procedure, Wait(op, [loop], None, start, results))
        self.procedures += [loop, turn, end]
        (goes_on,) = self._flatten(condition, loop)
        last = self._order_last(self._made.values_like(variables))
        self._wait(loop, Wait(last, [end, turn], goes_on, results=list(last.outputs)))
        loop.outputs = list(last.outputs)
        end.outputs = variables
        new = self._flatten(body, turn)
        turn.next_turn = [new[i] for i in own]

    def _name_of(self, branch: str) -> str:
        name = unique_among(self._names, branch)
        self._names.add(name)
        return name

    def _wait(self, procedure: FlatProcedure, wait: Wait) -> None:
        self._waiting.add(wait.op)
        procedure.waits.append(wait)

    def _add_computation(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        """Adds an op, unless the procedure, or one around it, has it already."""
        same = self._same_op(op, procedure)
        if same is not None:
            self._bind(op.outputs, same.outputs)
        elif not op.outputs or any(self.is_row(output) for output in op.outputs):
            procedure.ops.append(op)
            self._find_lists(op, procedure)

    def _find_lists(self, op: tf.Operation, procedure: FlatProcedure) -> None:
        inputs, scopes = self.inputs_of(op), list(around(procedure))
        self._lists.add_sizes(op, inputs)
        for output in op.outputs:
            if not may_be_list(output) or not self._lists.add(output, inputs, scopes):
                continue
            made = self._made.shape_of(output)
            self._add_made(made, [output], op, procedure)
            self._lists.set_count(output, self.resolve(made.outputs[0]))

    def _take_late_as_rows(self, procedure: FlatProcedure) -> None:
        """Makes a block compute what a procedure gives on that is not hoisted."""
        rows: dict[int, tf.Tensor] = {}

        def row(tensor: tf.Tensor) -> tf.Tensor:
            if not self.is_late(tensor):
                return tensor
            if id(tensor) not in rows:
                rows[id(tensor)] = self._copied_as_row(tensor, procedure)
            return rows[id(tensor)]

        for wait in procedure.waits:
            wait.selector = None if wait.selector is None else row(wait.selector)
            wait.key = None if wait.key is None else row(wait.key)
            wait.arguments = list(map(row, wait.arguments))
        for push in procedure.pushes:
            handle, *pushed = self.inputs_of(push)
            self._inputs_of_push[push] = [handle, *map(row, pushed)]
        procedure.outputs = list(map(row, procedure.outputs))
        procedure.next_turn = list(map(row, procedure.next_turn))

    def _copied_as_row(self, tensor: tf.Tensor, procedure: FlatProcedure) -> tf.Tensor:
        if not tensor.shape.is_fully_defined():
            raise varying(tensor)
        of_activation = self._any_row(tensor, tensor.op, procedure)
        made = self._made.values_like([tensor, of_activation])
        self._add_made(made, [tensor, of_activation], tensor.op, procedure)
        return self.resolve(made.outputs[0])

    def _check_lists(self, procedure: FlatProcedure) -> None:
        """Refuses lists that are given to other activations, or pushed."""
        given = [*procedure.outputs, *procedure.next_turn]
        given += [t for push in procedure.pushes for t in self.inputs_of(push)]
        for wait in procedure.waits:
            given += wait.arguments[wait.num_mapped :]
        for tensor in filter(self.is_list, given):
            raise varying(tensor)

    def _same_op(
        self, op: tf.Operation, procedure: FlatProcedure
    ) -> tf.Operation | None:
        if not op.outputs or has_effect(op) or self.has_own_gradient(op):
            return None
        key = self._signature_of(op)
        # For what is around, nobody may want it, and so its gradient is zero.
        may_move = is_smooth(op, self.inputs_of(op))
        for at in around(procedure) if may_move else (procedure,):
            same = self._known.get(at, {}).get(key)
            if same is not None:
                return same
        self._known.setdefault(procedure, {})[key] = op
        return None

    def _signature_of(self, op: tf.Operation) -> object:
        attrs = sorted(
            (name, value.SerializeToString(deterministic=True))
            for name, value in op.node_def.attr.items()
            if not name.startswith("_")
        )
        inputs = tuple(id(tensor) for tensor in self.inputs_of(op))
        return op.type, tuple(attrs), inputs


def around(procedure: FlatProcedure) -> Iterator[FlatProcedure]:
    """Yields a procedure, what it is in, and so on."""
    at: FlatProcedure | None = procedure
    while at is not None:
        yield at
        at = at.around


def _is_kept(body: FuncGraph, index: int) -> bool:
    """Says whether a loop's body returns a variable as it got it."""
    tensor = body.outputs[index]
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor is body.inputs[index]
