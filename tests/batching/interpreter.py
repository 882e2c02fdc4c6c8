"""What a plan means, one activation at a time.

It follows the plan by recursion, and runs the ops of a block as they stand in the
closed procedures, for one row. So a plan can be checked before anything is vectorized.
"""

import collections

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.compilation import Compilation
from recursive_tf.python.batching.differentiate.wanted import Wanted
from recursive_tf.python.batching.flatten.flattening import flatten
from recursive_tf.python.batching.plan.blocks import cut
from recursive_tf.python.batching.plan.plan import NO_BLOCK, make_plan
from recursive_tf.python.batching.plan.stages import Stages
from recursive_tf.python.batching.vectorize.any_number import (
    inference_form,
    vectorize,
)
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.batching.vectorize.rules import rule_of
from recursive_tf.python.program.graph_copy import GraphCopy
from recursive_tf.python.program.unneeded import NOTHING
from tests.batching.describe import describe


def compilation_of(subgraph):
    """Returns what the library compiles the program of a SubGraph to.

    Raises:
        CannotBatchError: If it cannot.
    """
    procedures = subgraph._close().program.procedures
    return Compilation(
        [tf_compat.to_func_graph(p.function) for p in procedures],
        [p.captures for p in procedures],
        [p.name for p in procedures],
    )


class Compiled:
    """A closed program, compiled as far as the plan.

    Args:
        subgraph: One that was defined eagerly.
    """

    def __init__(self, subgraph):
        closed = subgraph._close().program
        self.program = flatten(
            [tf_compat.to_func_graph(p.function) for p in closed.procedures],
            [p.captures for p in closed.procedures],
            [p.name for p in closed.procedures],
        )
        self.stages = Stages(self.program)
        self.blocks = cut(self.program, self.stages)
        self.plan = make_plan(self.program, self.stages, self.blocks)
        self.captures = [c.at_root(lambda outer: outer) for c in closed.captures]

    def describe(self):
        return describe(self.plan, self.blocks)

    def vectorize(self, rule_for=rule_of):
        """Returns a prologue, and each block for many rows."""
        prologue = Prologue(self.program)
        return prologue, [
            vectorize(self.program, prologue, block, self.stages.wanted, rule_for)
            for block in self.blocks
        ]

    def wanted(self, prologue):
        """Returns which gradients training blocks give: all."""
        return Wanted(self.program, prologue, NOTHING)

    def inference_forms(self, rule_for=rule_of):
        """Returns a prologue, and each block's graph with what it takes of that."""
        prologue, blocks = self.vectorize(rule_for)
        return prologue, list(map(inference_form, blocks))


def types_of(graph):
    """Returns the types of the ops of a graph, without constants."""
    skipped = ("Placeholder", "Const")
    return [op.type for op in graph.get_operations() if op.type not in skipped]


class Interpreter:
    """Runs a plan.

    Attributes:
        runs: How often each block ran.
        tables: The rows that were pushed, by table and index.
    """

    def __init__(self, compiled):
        self._plan = compiled.plan
        self._program = compiled.program
        self._captures = compiled.captures
        self._blocks = [
            self._function_of(block.inputs, block.outputs) for block in compiled.blocks
        ]
        self._prologue = self._function_of([], compiled.plan.prologue)()
        self.runs = collections.Counter()
        self.tables = collections.defaultdict(dict)

    def invoke(self, *arguments):
        """Returns the flat results of the first procedure."""
        return self._invoke(0, [tf.convert_to_tensor(a) for a in arguments])

    def block(self, index, inputs):
        """Returns the outputs of one block, for one row."""
        return self._blocks[index](*inputs)

    def _invoke(self, index, arguments):
        procedure = self._plan.procedures[index]
        assert len(arguments) == procedure.num_arguments
        slots = dict(enumerate(arguments))

        def find(source):
            return (self._prologue if source.of_prologue else slots)[source.index]

        def joined(pieces):
            rows = [find(piece) for piece in pieces]
            return tf.concat(rows, 0) if len(rows) > 1 else rows[0]

        for stage in procedure.stages:
            if stage.block != NO_BLOCK:
                self.runs[stage.block] += 1
                outputs = self._blocks[stage.block](*map(joined, stage.inputs))
                slots.update(enumerate(outputs, stage.first_output))
            for push in stage.pushes:
                table = self.tables[push.table]
                assert int(find(push.index)) not in table
                table[int(find(push.index))] = find(push.value)
            for call in stage.calls:
                chosen = 0 if call.selector is None else int(find(call.selector))
                last = len(call.branches) - 1
                branch = call.branches[chosen if 0 <= chosen <= last else last]
                arguments = [*map(find, branch.arguments)]
                if call.num_mapped:
                    results = self._map(procedure, call, arguments)
                else:
                    results = self._invoke(branch.procedure, arguments)
                slots.update(enumerate(results, call.first_result))
        assert max(slots, default=-1) < procedure.num_slots
        if procedure.goes_on is not None:
            loop = procedure.goes_on
            return self._invoke(loop.procedure, [*map(find, loop.arguments)])
        return [find(output) for output in procedure.outputs]

    def _map(self, caller, call, arguments):
        """Returns what the callee returns for each item, as lists."""
        lists, shared = arguments[: call.num_mapped], arguments[call.num_mapped :]
        callee = call.branches[0].procedure
        rows = [
            self._invoke(callee, [*items, *shared])
            for items in zip(*lists, strict=True)
        ]
        if rows:
            return [tf.stack(items) for items in zip(*rows, strict=True)]
        no_items = {found.slot: found.no_items for found in caller.lists}
        count = len(self._plan.procedures[callee].outputs)
        slots = range(call.first_result, call.first_result + count)
        return [self._prologue[no_items[slot]] for slot in slots]

    def _function_of(self, inputs, outputs):
        """Returns a function from `inputs` to `outputs`, of closed procedures."""
        graph = self.graph_of(inputs, outputs)
        function = tf_compat.make_function(graph)
        externals = [external for external, _ in graph.captures]
        return lambda *rows: function.call_flat(*rows, *externals) if outputs else []

    def graph_of(self, inputs, outputs):
        """Returns a graph from `inputs` to `outputs`, which has its captures."""
        graph = tf_compat.FuncGraph(tf_compat.unique_name("block"))
        copy = GraphCopy(self._program.graphs[0], graph)
        for tensor in inputs:
            copy.bind_input(tensor)
        with graph.as_default():
            for tensor in outputs:
                self._copy(tensor, copy)
            graph.outputs = [tf.identity(copy.resolve(t)) for t in outputs]
        return graph

    def _copy(self, tensor, copy):
        if id(tensor) in copy.values:
            return
        if id(tensor) in self._program.captures:
            external = self._captures[self._program.captures[id(tensor)]]
            inside = tf_compat.capture_placeholder(copy.target, external, None)
            copy.bind(tensor, inside)
            return
        op = tensor.op
        for source in self._program.inputs_of(op):
            self._copy(source, copy)
        inputs = [copy.resolve(t) for t in self._program.inputs_of(op)]
        if op.type == "TensorListGetItem" and inputs[0].dtype != tf.variant:
            # A list that was made of a tensor, which is there instead.
            copy.bind(tensor, tf.gather(inputs[0], inputs[1]))
            return
        new = tf_compat.create_op(copy.target, op, inputs)
        for old, output in zip(op.outputs, new.outputs, strict=True):
            copy.bind(old, output)
