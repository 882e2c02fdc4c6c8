"""A block for many activations at once."""

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.flatten.own_gradients import is_read
from recursive_tf.python.batching.graphs.counts import number_of_items
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.plan.stages import Wanted
from recursive_tf.python.batching.refusal import (
    CannotBatchError,
    LoopMustWaitError,
    faults_of,
    is_of_library,
    varying,
)
from recursive_tf.python.batching.vectorize.imports import Imports
from recursive_tf.python.batching.vectorize.item_axis import ItemAxis
from recursive_tf.python.batching.vectorize.known_numbers import KnownNumbers
from recursive_tf.python.batching.vectorize.networks import is_network
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.own_gradient_guards import (
    OwnGradientGuards,
    refused_for_lists,
)
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.batching.vectorize.rule_results import RuleResults
from recursive_tf.python.program.effects import effects_in, has_effect
from recursive_tf.python.program.graph_copy import LOOPS
from recursive_tf.python.program.reachable import needed_ops
from recursive_tf.python.tf_compat import FuncGraph

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
        values: What tensors of the program are in the graph, by their id.
        results: Checks what rules return.
        numbers: Those that its program has.
    """

    def __init__(
        self,
        program: FlatProgram,
        prologue: Prologue,
        block: Block,
        rule_of: Callable[..., Rule],
        wanted: Mapping[tf.Operation, Wanted],
        num_rows: int,
    ) -> None:
        self.num_rows = num_rows
        self.primes = [num_rows]
        self.numbers = KnownNumbers()
        self._program = program
        self._prologue = prologue
        self._rule_of = rule_of
        self._wanted = wanted
        self.values: dict[int, Operand] = {}
        self._axes: dict[int, ItemAxis] = {}
        # Then only gradients are added.
        self._is_complete = False
        self.graph = FuncGraph(tf_compat.unique_name(block.name))
        self.results = RuleResults(self.graph, prologue.graph, self.primes)
        self._guards = OwnGradientGuards(self, program)
        self._scope = "/".join(map(tf_compat.op_name, block.procedure.name.split("/")))
        self._imports = Imports(
            self.graph, self.numbers, with_ops=is_network(program, block)
        )
        self.invariants = self._imports.invariants
        with self.graph.as_default():
            for tensor in block.inputs:
                self._add_input(tensor)
            rows = list(self.graph.inputs)
            for op in block.ops:
                used = [self.operand(t) for t in program.inputs_of(op)]
                inputs = used[: len(op.inputs)]
                results = self._results_or_wait(op, inputs)
                self._bind(op, inputs, results, self.values)
            outputs = [self._output(tensor) for tensor in block.outputs]
        self.graph.outputs = outputs
        self._imports.complete(rows)
        self._is_complete = True

    # --- What rules build with

    def tensor(self, operand: Operand) -> tf.Tensor:
        """Returns an operand in the block's graph: with rows in front, or without."""
        return operand.tensor if operand.is_row else self._imports.get(operand.tensor)

    def all_rows(
        self, operand: Operand, shape: Sequence[int] | None = None
    ) -> tf.Tensor:
        """Returns an operand with rows in front, each broadcast to a shape."""
        shape = operand.shape if shape is None else shape
        if None in shape:
            raise varying(operand.tensor)
        if operand.is_row and operand.shape == list(shape):
            return operand.tensor
        return tf.broadcast_to(
            self.aligned(operand, len(shape)), [self.num_rows, *shape]
        )

    def aligned(self, operand: Operand, rank: int) -> tf.Tensor:
        """Returns an operand so that it broadcasts with rows of rank `rank`."""
        if not operand.is_row:
            return self._imports.get(operand.tensor)
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
        return self._imports.get(inputs[index].tensor)

    def reshaped(self, rows: tf.Tensor, shape: Sequence[int]) -> tf.Tensor:
        """Returns rows, each with another shape."""
        shape = [self.num_rows, *shape]
        return rows if rows.shape.as_list() == shape else tf.reshape(rows, shape)

    @property
    def is_of_items(self) -> bool:
        """Whether what rules see as rows are items of lists."""
        return self.num_rows != self.primes[0]

    def wanted_by(self, op: tf.Operation) -> tf.Tensor | None:
        """Returns which rows want an op that runs for others, too; else None."""
        wanted = self._wanted.get(op)
        if wanted is None:
            return None
        branch_of = self.all_rows(self.operand(wanted.selector), [])
        if branch_of.dtype == tf.bool:
            return branch_of if wanted.branch else tf.logical_not(branch_of)
        if not wanted.is_last:
            return tf.equal(branch_of, wanted.branch)
        return tf.logical_or(branch_of < 0, branch_of >= wanted.branch)

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
        given = set(values)
        needed = needed_ops(
            graph.outputs, lambda tensor: id(tensor) in given, effects_in(graph)
        )
        for op in needed:
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
                return self.all_rows(self.operand(count))[:, 0]

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
            self.values[id(tensor)] = Operand(seen, is_row=True, axis=axis)
        else:
            rows = self._placeholder([self.num_rows, *_shape_of(tensor)], tensor.dtype)
            self.values[id(tensor)] = Operand(rows, is_row=True)

    def _placeholder(self, shape: list[int], dtype: tf.DType) -> tf.Tensor:
        added = tf_compat.placeholder_like(self.graph, tf.TensorSpec(shape, dtype))
        self.graph.inputs.append(added)
        return added

    def _output(self, tensor: tf.Tensor) -> tf.Tensor:
        _check_is_value(tensor)
        operand = self.values[id(tensor)]
        axis = None
        if self._program.lists.is_list(tensor):
            axis = self._axis(self._program.lists.origin_of(tensor))
        if operand.axis is not axis:
            raise varying(tensor)
        if axis is None:
            return self.all_rows(operand)
        return tf.reshape(operand.tensor, [axis.num_items, *tensor.shape[1:]])

    def operand(self, tensor: tf.Tensor) -> Operand:
        """Returns what a resolved tensor of the program is here."""
        known = self.values.get(id(tensor))
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
        self._learn_numbers(op, inputs)
        lists = [operand for operand in inputs if operand.axis is not None]
        if lists or (op.outputs and self._program.lists.is_list(op.outputs[0])):
            return self._lists_of(op, inputs, makes_list=not lists)
        # A rule may have found that an op of rows is the same for all of them.
        is_of_each_row = any(i.is_row for i in inputs) or has_effect(op)
        if not (is_of_each_row or self._has_loops_own_gradient(op)):
            added = self._prologue.add(op, [i.tensor for i in inputs])
            return [Operand(tensor, is_row=False) for tensor in added]
        rule = self._rule_of(op)
        _check_ranks(op, inputs)
        shapes = [_shape_of(t) if is_read(t) else None for t in op.outputs]
        with self._adds_for(op, rule):
            results = rule(self, op, inputs)
            self.results.check_rows(op, shapes, results, self.num_rows)
        return results

    def _learn_numbers(self, op: tf.Operation, inputs: list[Operand]) -> None:
        self.numbers.add_sizes([*op.inputs, *op.outputs])
        for operand in inputs:
            if not operand.is_row and operand.tensor.dtype.is_integer:
                value = static_value(operand.tensor)
                if value is not None:
                    self.numbers.add_value(value)

    def _lists_of(
        self, op: tf.Operation, inputs: list[Operand], *, makes_list: bool
    ) -> Sequence[tf.Tensor | Operand]:
        if self._program.own_gradients.differ(op):
            raise refused_for_lists(op)
        _check_ranks(op, inputs)
        rule = self._rule_of(op, of_lists=True, makes_list=makes_list)
        with self._adds_for(op, rule):
            results = rule(self, op, inputs)
            self.results.check_lists(op, results, self.num_rows)
        return results

    @contextlib.contextmanager
    def _adds_for(self, op: tf.Operation, rule: Rule) -> Iterator[None]:
        """Gives a context in which ops that a rule adds are named after `op`.

        And say that they are made for it: for profiles, and for who is told that one
        of them cannot be differentiated.
        """
        self.numbers.are_all &= is_of_library(rule)
        first = len(self.graph.get_operations())
        with faults_of(rule, op), tf_compat.named(f"{self._scope}/{op.name}"):
            yield
        for added in self.graph.get_operations()[first:]:
            tf_compat.set_origin(added, op)

    def _has_loops_own_gradient(self, op: tf.Operation) -> bool:
        """Says whether rows may differ in a gradient that stands in a loop."""
        return op.type in LOOPS and self._program.own_gradients.differ(op)

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
            self._guards.put(op, inputs, values)


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
