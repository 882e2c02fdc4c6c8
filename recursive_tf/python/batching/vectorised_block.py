"""A block for many activations at once."""

from collections.abc import Callable, Collection, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.blocks import Block
from recursive_tf.python.batching.flat_program import FlatProgram
from recursive_tf.python.batching.operand import Operand
from recursive_tf.python.batching.prologue import Prologue
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.static import static_value
from recursive_tf.python.program.effects import has_effect
from recursive_tf.python.tf_compat import FuncGraph

# Returns what takes the place of an op's outputs: row tensors of the block's graph, or
# operands. It may raise CannotBatchError.
Rule = Callable[
    ["VectorisedBlock", tf.Operation, list[Operand]], Sequence[tf.Tensor | Operand]
]


class VectorisedBlock:
    """The graph of a block, for so many activations.

    Attributes:
        num_rows: How many. It stands for any number: see emit.py.
        graph: Its inputs are the block's, with rows in front, then `invariants`. Its
            outputs are the block's, with rows in front.
        invariants: The tensors of the prologue that it takes.
    """

    def __init__(
        self,
        program: FlatProgram,
        prologue: Prologue,
        block: Block,
        rule_of: Callable[[tf.Operation], Rule],
        speculated: Collection[tf.Operation],
        num_rows: int,
    ) -> None:
        self.num_rows = num_rows
        self._program = program
        self._prologue = prologue
        self._speculated = speculated
        self._values: dict[int, Operand] = {}
        self._imported: dict[int, tf.Tensor] = {}
        self.graph = FuncGraph(tf_compat.unique_name(block.name))
        self.invariants: list[tf.Tensor] = []
        for tensor in block.inputs:
            self._add_input(tensor)
        rows = list(self.graph.inputs)
        with self.graph.as_default():
            for op in block.ops:
                for output in op.outputs:
                    _check_static(output)
                self._add(op, rule_of(op))
            outputs = [self.all_rows(self._values[id(t)]) for t in block.outputs]
        self.graph.outputs = outputs
        self.graph.inputs = rows + [self._imported[id(t)] for t in self.invariants]

    # --- What rules build with

    def tensor(self, operand: Operand) -> tf.Tensor:
        """Returns an operand in the block's graph: with rows in front, or without."""
        return operand.tensor if operand.is_row else self._import(operand.tensor)

    def all_rows(self, operand: Operand) -> tf.Tensor:
        """Returns an operand with rows in front."""
        if operand.is_row:
            return operand.tensor
        value = self._import(operand.tensor)
        return tf.broadcast_to(value, [self.num_rows, *operand.shape])

    def aligned(self, operand: Operand, rank: int) -> tf.Tensor:
        """Returns an operand so that it broadcasts with rows of rank `rank`."""
        if not operand.is_row:
            return self._import(operand.tensor)
        ones = [1] * (rank - operand.rank)
        return self.reshaped(operand.tensor, [*ones, *operand.shape])

    def reshaped(self, rows: tf.Tensor, shape: Sequence[int]) -> tf.Tensor:
        """Returns rows, each with another shape."""
        shape = [self.num_rows, *shape]
        return rows if rows.shape.as_list() == shape else tf.reshape(rows, shape)

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

    # ---

    def _add_input(self, tensor: tf.Tensor) -> None:
        _check_static(tensor)
        spec = tf.TensorSpec([self.num_rows, *tensor.shape], tensor.dtype)
        rows = tf_compat.placeholder_like(self.graph, spec)
        self.graph.inputs.append(rows)
        self._values[id(tensor)] = Operand(rows, is_row=True)

    def _operand(self, tensor: tf.Tensor) -> Operand:
        known = self._values.get(id(tensor))
        if known is None:
            known = Operand(self._prologue.copy(tensor), is_row=False)
        return known

    def _add(self, op: tf.Operation, rule: Rule) -> None:
        inputs = [self._operand(t) for t in self._program.inputs_of(op)]
        results: Sequence[tf.Tensor | Operand]
        # A rule may have found that an op of rows is the same for all of them.
        if inputs and not any(i.is_row for i in inputs) and not has_effect(op):
            added = self._prologue.add(op, [i.tensor for i in inputs])
            results = [Operand(tensor, is_row=False) for tensor in added]
        else:
            results = rule(self, op, inputs)
        for old, new in zip(op.outputs, results, strict=True):
            operand = new if isinstance(new, Operand) else Operand(new, is_row=True)
            assert operand.shape == old.shape.as_list(), (op, operand)
            self._values[id(old)] = operand

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
        return self._imported[id(tensor)]


def _check_static(tensor: tf.Tensor) -> None:
    if tensor.dtype != tf.resource and not tensor.shape.is_fully_defined():
        raise CannotBatchError(
            tensor.op,
            f"its shape, {tensor.shape}, may differ between activations. Say what it "
            "is, e.g. with tf.ensure_shape or in the signature, or use the dataflow "
            "executor.",
        )
