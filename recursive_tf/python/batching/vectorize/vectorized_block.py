"""A block for many activations at once."""

import copy
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.flatten.own_gradients import is_read
from recursive_tf.python.batching.graphs.counts import number_of_items
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.refusal import (
    CannotBatchError,
    LoopMustWaitError,
    RuleError,
    faults_of,
    varying,
)
from recursive_tf.python.batching.vectorize.item_axis import ItemAxis
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.program.effects import has_effect, has_effect_within
from recursive_tf.python.program.graph_copy import LOOPS
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tf_compat import FuncGraph
from recursive_tf.python.tracing.signature import format_spec, spec_of

# Returns what takes the place of an op's outputs: row tensors of the block's graph, or
# operands. It may raise CannotBatchError.
Rule = Callable[
    ["VectorizedBlock", tf.Operation, list[Operand]], Sequence[tf.Tensor | Operand]
]


class VectorizedBlock:
    """The graph of a block, for so many activations.

    Attributes:
        num_rows: How many. It stands for any number: see counts.py.
        primes: That, and what stands for numbers of items of lists.
        graph: Its inputs are the block's, with rows in front, then `invariants`. Its
            outputs are the block's, with rows in front.
        invariants: The tensors of the prologue that it takes.
    """

    def __init__(
        self,
        program: FlatProgram,
        prologue: Prologue,
        block: Block,
        rule_of: Callable[..., Rule],
        speculated: Collection[tf.Operation],
        num_rows: int,
    ) -> None:
        self.num_rows = num_rows
        self.primes = [num_rows]
        self._program = program
        self._prologue = prologue
        self._rule_of = rule_of
        self._speculated = speculated
        self._values: dict[int, Operand] = {}
        self._imported: dict[int, tf.Tensor] = {}
        self._axes: dict[int, ItemAxis] = {}
        # Then only gradients are added.
        self._is_complete = False
        self.graph = FuncGraph(tf_compat.unique_name(block.name))
        self._scope = "/".join(map(tf_compat.op_name, block.procedure.name.split("/")))
        self.invariants: list[tf.Tensor] = []
        with self.graph.as_default():
            for tensor in block.inputs:
                self._add_input(tensor)
            rows = list(self.graph.inputs)
            for op in block.ops:
                used = [self._operand(t) for t in program.inputs_of(op)]
                inputs = used[: len(op.inputs)]
                results = self._results_or_wait(op, inputs)
                self._bind(op, inputs, results, self._values)
            outputs = [self._output(tensor) for tensor in block.outputs]
        self.graph.outputs = outputs
        self.graph.inputs = rows + [self._imported[id(t)] for t in self.invariants]
        self._is_complete = True

    # --- What rules build with

    def tensor(self, operand: Operand) -> tf.Tensor:
        """Returns an operand in the block's graph: with rows in front, or without."""
        return operand.tensor if operand.is_row else self._import(operand.tensor)

    def all_rows(
        self, operand: Operand, shape: Sequence[int] | None = None
    ) -> tf.Tensor:
        """Returns an operand with rows in front, each broadcast to a shape."""
        shape = operand.shape if shape is None else shape
        if operand.is_row and operand.shape == list(shape):
            return operand.tensor
        return tf.broadcast_to(
            self.aligned(operand, len(shape)), [self.num_rows, *shape]
        )

    def aligned(self, operand: Operand, rank: int) -> tf.Tensor:
        """Returns an operand so that it broadcasts with rows of rank `rank`."""
        if not operand.is_row:
            return self._import(operand.tensor)
        ones = [1] * (rank - operand.rank)
        return self.reshaped(operand.tensor, [*ones, *operand.shape])

    def shared(self, op: tf.Operation, index: int, inputs: list[Operand]) -> tf.Tensor:
        """Returns an input of `op` that must be the same for all rows.

        Raises:
            CannotBatchError: If it is not.
        """
        if inputs[index].is_row:
            name = op.op_def.input_arg[index].name
            raise CannotBatchError(
                op,
                f"its input '{name}' may differ between activations. Take it from "
                "outside of the SubGraph, or use the dataflow executor.",
            )
        return self._import(inputs[index].tensor)

    def reshaped(self, rows: tf.Tensor, shape: Sequence[int]) -> tf.Tensor:
        """Returns rows, each with another shape."""
        shape = [self.num_rows, *shape]
        return rows if rows.shape.as_list() == shape else tf.reshape(rows, shape)

    @property
    def is_of_items(self) -> bool:
        """Whether what rules see as rows are items of lists."""
        return self.num_rows != self.primes[0]

    def is_speculated(self, op: tf.Operation) -> bool:
        """Says whether `op` also runs for activations that do not want it."""
        return op in self._speculated

    def once(self, function: Callable[..., tf.Tensor], *operands: Operand) -> Operand:
        """Returns what a function of operands without rows gives, once a root call."""
        with self._prologue.graph.as_default():
            return Operand(function(*(o.tensor for o in operands)), is_row=False)

    def add_like(self, op: tf.Operation, inputs: list[tf.Tensor]) -> list[tf.Tensor]:
        """Adds an op like `op` with other inputs, and so with other shapes."""
        return list(tf_compat.add_like(self.graph, op, inputs).outputs)

    def inlined(self, graph: FuncGraph, inputs: Sequence[Operand]) -> list[Operand]:
        """Returns what a function that an op names gives, op by op."""
        values = dict(zip(map(id, graph.inputs), inputs, strict=True))
        for op in _needed_within(graph):
            operands = [values[id(tensor)] for tensor in op.inputs]
            self._bind(op, operands, self._results_of(op, operands), values)
        return [values[id(output)] for output in graph.outputs]

    # --- What rules of lists build with

    def of_items(self, axis: ItemAxis) -> "VectorizedBlock":
        """Returns this block, for rules that shall take each item for a row."""
        view = copy.copy(self)
        view.num_rows = axis.num_items
        return view

    def items_of(self, operand: Operand, axis: ItemAxis) -> Operand:
        """Returns what each item sees of an operand, as rows of such a block."""
        if operand.axis is not None:
            return Operand(operand.tensor, is_row=True)
        if not operand.is_row:
            return operand
        return Operand(axis.of_owners(operand.tensor), is_row=True)

    def axis_of(
        self, op: tf.Operation, lengths: Callable[[], tf.Tensor], count: int | None
    ) -> ItemAxis:
        """Returns the axis of a list that `op` makes of what are no lists.

        Args:
            op: The op.
            lengths: Returns how many items each activation has.
            count: The same for all of them, if it is.
        """
        origin = self._program.lists.origin_of(op.outputs[0])
        if origin is op.outputs[0]:
            self._axes[id(origin)] = self._new_axis(lengths, count)
        return self._axis(origin)

    def axis_of_size(self, op: tf.Operation) -> ItemAxis | None:
        """Returns the axis of what `op` makes of a size, if that counts items."""
        origin = self._program.lists.origin_for(op, self._program.inputs_of(op))
        return None if origin is None else self._axis(origin)

    # ---

    def _new_axis(
        self, lengths: Callable[[], tf.Tensor], count: int | None
    ) -> ItemAxis:
        if count is not None:
            return ItemAxis(self.num_rows, self.num_rows * count, lengths)
        num_items = number_of_items(self.num_rows, len(self.primes) - 1)
        self.primes.append(num_items)
        return ItemAxis(self.num_rows, num_items, lengths)

    def _axis(self, origin: tf.Tensor) -> ItemAxis:
        if id(origin) not in self._axes:
            count = self._program.lists.count_of(origin)
            known = None if self._program.is_row(count) else static_value(count)

            def lengths() -> tf.Tensor:
                return self.all_rows(self._operand(count))[:, 0]

            self._axes[id(origin)] = self._new_axis(
                lengths, None if known is None else int(known[0])
            )
        return self._axes[id(origin)]

    def _add_input(self, tensor: tf.Tensor) -> None:
        _check_is_value(tensor)
        if self._program.lists.is_list(tensor):
            axis = self._axis(self._program.lists.origin_of(tensor))
            items = self._placeholder([axis.num_items, *tensor.shape[1:]], tensor.dtype)
            seen = tf.reshape(items, [axis.num_items, 1, *tensor.shape[1:]])
            self._values[id(tensor)] = Operand(seen, is_row=True, axis=axis)
        else:
            rows = self._placeholder([self.num_rows, *_shape_of(tensor)], tensor.dtype)
            self._values[id(tensor)] = Operand(rows, is_row=True)

    def _placeholder(self, shape: list[int], dtype: tf.DType) -> tf.Tensor:
        added = tf_compat.placeholder_like(self.graph, tf.TensorSpec(shape, dtype))
        self.graph.inputs.append(added)
        return added

    def _output(self, tensor: tf.Tensor) -> tf.Tensor:
        _check_is_value(tensor)
        operand = self._values[id(tensor)]
        axis = None
        if self._program.lists.is_list(tensor):
            axis = self._axis(self._program.lists.origin_of(tensor))
        if operand.axis is not axis:
            raise varying(tensor)
        if axis is None:
            return self.all_rows(operand)
        return tf.reshape(operand.tensor, [axis.num_items, *tensor.shape[1:]])

    def _operand(self, tensor: tf.Tensor) -> Operand:
        known = self._values.get(id(tensor))
        if known is None:
            known = Operand(self._prologue.copy(tensor), is_row=False)
        return known

    def _results_or_wait(
        self, op: tf.Operation, inputs: list[Operand]
    ) -> Sequence[tf.Tensor | Operand]:
        try:
            return self._results_of(op, inputs)
        except CannotBatchError as error:
            if op.type not in LOOPS:
                raise
            raise LoopMustWaitError(op, str(error)) from error

    def _results_of(
        self, op: tf.Operation, inputs: list[Operand]
    ) -> Sequence[tf.Tensor | Operand]:
        lists = [operand for operand in inputs if operand.axis is not None]
        if lists or (op.outputs and self._program.lists.is_list(op.outputs[0])):
            return self._lists_of(op, inputs, makes_list=not lists)
        # A rule may have found that an op of rows is the same for all of them.
        if not any(i.is_row for i in inputs) and not self._is_of_each_row(op):
            added = self._prologue.add(op, [i.tensor for i in inputs])
            return [Operand(tensor, is_row=False) for tensor in added]
        rule = self._rule_of(op)
        _check_ranks(op, inputs)
        shapes = [_shape_of(t) if is_read(t) else None for t in op.outputs]
        with faults_of(rule, op), self._scope_of(op):
            results = rule(self, op, inputs)
            self.check_results(op, shapes, results)
        return results

    def _lists_of(
        self, op: tf.Operation, inputs: list[Operand], *, makes_list: bool
    ) -> Sequence[tf.Tensor | Operand]:
        if self._program.own_gradients.differ(op):
            raise _own_gradient_of_lists(op)
        _check_ranks(op, inputs)
        rule = self._rule_of(op, of_lists=True, makes_list=makes_list)
        with faults_of(rule, op), self._scope_of(op):
            results = rule(self, op, inputs)
            self._check_lists(op, results)
        return results

    def _scope_of(self, op: tf.Operation) -> AbstractContextManager[Any]:
        """Returns a context in which ops are named after `op`, for profiles."""
        return tf_compat.named(f"{self._scope}/{op.name}")

    def _is_of_each_row(self, op: tf.Operation) -> bool:
        """Says whether rows may differ in an op although they give it the same."""
        if op.type in LOOPS:  # What is in them decides.
            return self._program.own_gradients.differ(op) or has_effect_within(op)
        return has_effect(op)

    def _bind(
        self,
        op: tf.Operation,
        inputs: list[Operand],
        results: Sequence[tf.Tensor | Operand],
        values: dict[int, Operand],
    ) -> None:
        for output, result in zip(op.outputs, results, strict=True):
            operand = (
                result if isinstance(result, Operand) else Operand(result, is_row=True)
            )
            values[id(output)] = operand
        if self._program.own_gradients.has(op) and not self._is_complete:
            self._guard(op, inputs, values)

    # --- Gradients that ops have of their own

    def _guard(
        self, op: tf.Operation, inputs: list[Operand], values: dict[int, Operand]
    ) -> None:
        """Puts a copy behind what `op` gives, with the gradient that `op` has."""
        try:
            own = self._program.own_gradients.of(op)
        except CannotBatchError as error:  # Which matters if somebody wants it.
            self._refuse_gradient(op, values, error)
            return
        guarded = [op.outputs[i] for i in own.cotangents]
        if not guarded:
            return
        outputs = [self.all_rows(values[id(output)]) for output in guarded]
        taken = [self.tensor(inputs[i]) for i in own.inputs]
        copies = tf.raw_ops.IdentityN(input=[*outputs, *taken])
        for output, copied in zip(guarded, copies, strict=False):
            values[id(output)] = Operand(copied, is_row=True)
        captures = [self._captured(op, tensor, values) for tensor in own.captures]
        shares = [not inputs[i].is_row for i in own.inputs]

        def differentiate(_: tf.Operation, *gradients: tf.Tensor) -> list[Any]:
            given = [Operand(g, is_row=True) for g in gradients[: len(guarded)]]
            found = map(self.all_rows, self.inlined(own.graph, [*given, *captures]))
            return [None] * len(guarded) + [
                tf.reduce_sum(rows, 0) if is_shared else rows
                for rows, is_shared in zip(found, shares, strict=True)
            ]

        tf_compat.set_gradient_function(copies[0].op, differentiate)

    def _refuse_gradient(
        self, op: tf.Operation, values: dict[int, Operand], error: CannotBatchError
    ) -> None:
        def refuse(*_: Any) -> NoReturn:
            raise error

        for output in op.outputs:
            if is_trainable(output.dtype) and is_read(output):
                (copied,) = tf.raw_ops.IdentityN(
                    input=[self.all_rows(values[id(output)])]
                )
                tf_compat.set_gradient_function(copied.op, refuse)
                values[id(output)] = Operand(copied, is_row=True)

    def _captured(
        self, op: tf.Operation, tensor: tf.Tensor, values: dict[int, Operand]
    ) -> Operand:
        """Returns what a gradient of its own uses."""
        if isinstance(tensor, tf_compat.EagerTensor):
            return self.once(lambda: tf.constant(tensor.numpy(), tensor.dtype))
        resolved = self._program.resolve(tensor)
        for known in (values, self._values):
            for candidate in (tensor, resolved):
                if id(candidate) in known:
                    if known[id(candidate)].axis is not None:
                        raise _own_gradient_of_lists(op)
                    return known[id(candidate)]
        if not self._program.has(resolved) or self._program.is_row(resolved):
            raise CannotBatchError(
                op,
                "it has a gradient of its own, e.g. of tf.custom_gradient, which uses "
                f"{tensor.name}, and that is not there. Make it an argument of the "
                "function with the gradient, or use the dataflow executor.",
            )
        return self._operand(resolved)

    # ---

    def _import(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns a tensor of the prologue in the block's graph."""
        if id(tensor) not in self._imported:
            value = static_value(tensor)
            if value is not None:
                self._imported[id(tensor)] = tf.constant(value, tensor.dtype)
            else:
                placeholder = tf_compat.placeholder_like(self.graph, tensor)
                self._imported[id(tensor)] = placeholder
                self.invariants.append(tensor)
                if self._is_complete:
                    self.graph.inputs.append(placeholder)
        return self._imported[id(tensor)]

    # --- What rules return

    def check_results(
        self, op: tf.Operation, shapes: Sequence[list[int] | None], results: Any
    ) -> None:
        """Raises RuleError if a rule returned something else than rows of `shapes`.

        None among these is of what nobody reads.
        """
        count = len(op.outputs)
        if not isinstance(results, Sequence):
            raise RuleError(op, f"a list of {count} outputs", _returned(results))
        if len(results) != count:
            raise RuleError(op, f"{count} outputs", f"returned {len(results)}")
        for index, (shape, result) in enumerate(zip(shapes, results, strict=True)):
            if shape is not None and op.outputs[index].dtype != tf.variant:
                self._check_result(op, index, shape, result)
        if self.graph.captures or self._prologue.graph.captures:
            raise RuleError(
                op,
                "what it makes of its inputs",
                "returned what uses other tensors or variables",
            )

    def _check_result(
        self, op: tf.Operation, index: int, shape: list[int], result: Any
    ) -> None:
        is_row = not isinstance(result, Operand) or result.is_row
        tensor = result.tensor if isinstance(result, Operand) else result
        front = [self.num_rows] if is_row else []
        spec = tf.TensorSpec([*front, *shape], op.outputs[index].dtype)
        graph = self.graph if is_row else self._prologue.graph
        self._check_tensor(op, index, tensor, spec, graph)
        tensor.set_shape(spec.shape)

    def _check_lists(self, op: tf.Operation, results: Any) -> None:
        """Checks what a rule of lists returns: lists, or rows as other rules."""
        for index, (output, result) in enumerate(zip(op.outputs, results, strict=True)):
            operand = (
                result if isinstance(result, Operand) else Operand(result, is_row=True)
            )
            if not operand.is_row or not is_read(output) or output.shape.rank is None:
                continue
            front = (
                tf.TensorShape([self.num_rows]).concatenate(output.shape)
                if operand.axis is None
                else tf.TensorShape([operand.axis.num_items, 1, *output.shape[1:]])
            )
            spec = tf.TensorSpec(front, output.dtype)
            self._check_tensor(op, index, operand.tensor, spec, self.graph)

    def _check_tensor(
        self,
        op: tf.Operation,
        index: int,
        tensor: Any,
        spec: tf.TensorSpec,
        graph: FuncGraph,
    ) -> None:
        if not _is_of(tensor, graph) or not spec.is_compatible_with(tensor):
            raise RuleError(
                op,
                f"{self._format(spec)} as output {index}, for N rows",
                f"returned {self._format(tensor)}"
                if _is_of(tensor, graph)
                else _describe(tensor),
            )

    def _format(self, like: tf.Tensor | tf.TensorSpec) -> str:
        text = format_spec(spec_of(like))
        for number in (self.num_rows, *self.primes):
            text = text.replace(str(number), "N")
        return text


def _own_gradient_of_lists(op: tf.Operation) -> CannotBatchError:
    return CannotBatchError(
        op,
        "it has a gradient of its own, e.g. of tf.custom_gradient, and takes rows "
        "of which activations have other numbers. Use the dataflow executor.",
    )


def _describe(found: object) -> str:
    """Says what a rule returned that is no tensor of the right graph."""
    if isinstance(found, tf.Tensor):
        return "returned a tensor of another graph than its inputs"
    return _returned(found)


def _returned(found: object) -> str:
    return f"returned an object of type {type(found).__name__}"


def _is_of(found: object, graph: FuncGraph) -> bool:
    if not isinstance(found, tf.Tensor) or isinstance(found, tf_compat.EagerTensor):
        return False
    return found.graph is graph


def _check_is_value(tensor: tf.Tensor) -> None:
    if tensor.dtype in (tf.resource, tf.variant):
        raise CannotBatchError(
            tensor.op,
            f"a {tensor.dtype.name} goes from one block to another, e.g. of a "
            "tf.TensorArray around a call. Stack it, or use the dataflow executor.",
        )


def _check_ranks(op: tf.Operation, inputs: list[Operand]) -> None:
    if any(operand.tensor.shape.rank is None for operand in inputs):
        raise CannotBatchError(
            op,
            "it is not known how many dimensions its inputs have. Say it, e.g. with "
            "tf.ensure_shape, or use the dataflow executor.",
        )


def _shape_of(tensor: tf.Tensor) -> list[int]:
    """Returns the shape of a row, which may be stated after the op that makes it."""
    stated = [op.outputs[0] for op in tensor.consumers() if op.type == "EnsureShape"]
    for candidate in (tensor, *stated):
        if candidate.shape.is_fully_defined():
            return list(candidate.shape.as_list())
    raise varying(tensor)


def _needed_within(graph: FuncGraph) -> list[tf.Operation]:
    """Returns the ops of a function that its outputs or an effect need, in order."""
    todo = [output.op for output in graph.outputs]
    todo += [op for op in graph.get_operations() if has_effect(op)]
    needed: set[tf.Operation] = set()
    while todo:
        op = todo.pop()
        if op not in needed:
            needed.add(op)
            todo += [tensor.op for tensor in op.inputs]
    needed.difference_update(tensor.op for tensor in graph.inputs)
    return [op for op in graph.get_operations() if op in needed]
