"""From a closed program to what the batched executor runs."""

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.block_names import block_names
from recursive_tf.python.batching.blocks import cut
from recursive_tf.python.batching.dense_lists import DenseLists
from recursive_tf.python.batching.encoding import encode, encode_gradients
from recursive_tf.python.batching.flat_program import FlatProgram
from recursive_tf.python.batching.gradient_plan import gradient_of
from recursive_tf.python.batching.plan import make_plan
from recursive_tf.python.batching.prologue import Prologue
from recursive_tf.python.batching.refusal import LoopMustWaitError
from recursive_tf.python.batching.stages import Stages
from recursive_tf.python.batching.training_block import (
    TrainingBlock,
    check_gradient,
    make_training_block,
)
from recursive_tf.python.batching.vectorise import vectorise
from recursive_tf.python.tf_compat import AtomicFunction, FuncGraph


@dataclasses.dataclass(frozen=True)
class BlockFunctions:
    """The functions of some blocks.

    Attributes:
        functions: Of rows, and then of outputs of the prologue.
        invariants: Which outputs of the prologue each takes.
    """

    functions: list[AtomicFunction]
    invariants: list[list[int]]

    def attributes(self, graph: tf.Graph, name: str) -> dict[str, Any]:
        """Returns them as attributes of an op that is added to `graph`."""
        for function in self.functions:
            tf_compat.add_function(graph, function)
        return {
            name: [tf.compat.as_str(f.name) for f in self.functions],
            f"{name}_invariant_counts": [len(i) for i in self.invariants],
            f"{name}_invariants": [i for each in self.invariants for i in each],
        }


class PrologueOutputs:
    """What the prologue returns: the values that a plan names, then invariants.

    Attributes:
        tensors: Of the prologue's graph.
    """

    def __init__(self, prologue: Prologue, values: Sequence[tf.Tensor]) -> None:
        self._prologue = prologue
        self.tensors = [prologue.copy(tensor) for tensor in values]
        self._indices = {id(t): i for i, t in enumerate(self.tensors)}

    def indices_of(self, invariants: Sequence[tf.Tensor]) -> list[int]:
        """Returns which outputs tensors of the prologue are; they become such."""
        for tensor in invariants:
            if id(tensor) not in self._indices:
                self._indices[id(tensor)] = len(self.tensors)
                self.tensors.append(tensor)
        return [self._indices[id(tensor)] for tensor in invariants]

    def attributes(self, graph: tf.Graph) -> dict[str, Any]:
        """Returns the prologue as attributes of an op that is added to `graph`."""
        source = self._prologue.graph
        source.outputs = list(self.tensors)
        function = tf_compat.make_function(source)
        tf_compat.add_function(graph, function)
        return {
            "prologue": tf.compat.as_str(function.name),
            "prologue_captures": list(self._prologue.captures),
        }


@dataclasses.dataclass(frozen=True)
class Training:
    """What a program runs when it is differentiated.

    Attributes:
        blocks: The blocks with their gradients.
        forward: Takes the place of the blocks.
        backward: What runs for each launch, of the blocks that have such a part.
        deferred: What runs at the end, the same.
    """

    blocks: list[TrainingBlock]
    forward: BlockFunctions
    backward: BlockFunctions
    deferred: BlockFunctions

    def gradient_plan(self) -> list[int]:
        """Returns what is kept, taken and returned where, encoded."""
        return encode_gradients([gradient_of(block) for block in self.blocks])

    def kept(self) -> list[tf.TensorSpec]:
        """Returns what one row looks like of all that deferred parts take."""
        specs = []
        for block in self.blocks:
            if block.deferred is not None:
                rows = block.deferred.inputs[: len(block.kept)]
                specs += [tf.TensorSpec(t.shape[1:], t.dtype) for t in rows]
        return specs

    def invariant_gradients(self) -> list[tuple[tf.Tensor, list[tf.TensorSpec]]]:
        """Returns what the deferred parts give, one block after the other.

        That is a tensor of the prologue, and what its gradient consists of: the sum
        over all rows, or the values and the indices of slices.
        """
        found = []
        for block in self.blocks:
            if block.deferred is None:
                continue
            outputs = iter(block.deferred.outputs)
            for tensor, is_slices in block.invariant_gradients:
                parts = [next(outputs) for _ in range(2 if is_slices else 1)]
                found.append((tensor, [tf.TensorSpec(t.shape, t.dtype) for t in parts]))
        return found

    def deferred_outputs(self) -> dict[str, Any]:
        """Returns attributes of the backward root op: what the deferred parts give."""
        blocks = [block for block in self.blocks if block.deferred is not None]
        by_block = [
            [has_rows for _, has_rows in block.invariant_gradients] for block in blocks
        ]
        flags = [[f for f in own for _ in range(2 if f else 1)] for own in by_block]
        return {
            "deferred_counts": [len(own) for own in flags],
            "deferred_has_rows": [flag for own in flags for flag in own],
        }


# Where the first procedure's graph keeps what its program was compiled to.
_COMPILATION = "recursive_compilation"


def compiled_once(
    graphs: Sequence[FuncGraph],
    capture_indices: Sequence[Sequence[int]],
    names: Sequence[str],
) -> "Compilation":
    """Returns the compilation of a program; the arguments are those of `Compilation`.

    A gradient finds that of its forward op, unless this was loaded.
    """
    known: Compilation | None = getattr(graphs[0], _COMPILATION, None)
    if known is None:
        known = Compilation(graphs, capture_indices, names)
        setattr(graphs[0], _COMPILATION, known)
    return known


class Compilation:
    """A closed program, cut into blocks and vectorised.

    Thread safety: ops may be added by several threads.

    Attributes:
        program: The procedures, flattened.
        blocks: What is vectorised.
        block_names: For errors, traces and explanations.
        plan: How the blocks follow each other.
        prologue: What no activation changes.
        outputs: Of the prologue.
        inference: The blocks as functions of rows.

    Raises:
        CannotBatchError: If the program cannot be batched.
    """

    def __init__(
        self,
        graphs: Sequence[FuncGraph],
        capture_indices: Sequence[Sequence[int]],
        names: Sequence[str],
    ) -> None:
        self._lock = threading.RLock()  # What is added to the prologue stays in it.
        self._training: Training | None = None
        waiting_loops: set[tf.Operation] = set()
        while True:
            dense = DenseLists(graphs, waiting_loops)
            try:
                self._compile(
                    FlatProgram(
                        dense.graphs, capture_indices, names, dense.waiting_loops
                    )
                )
                return
            except LoopMustWaitError as error:
                waiting_loops.add(dense.source_of(error.loop))

    def _compile(self, program: FlatProgram) -> None:
        self.program = program
        self.stages = Stages(self.program)
        self.blocks = cut(self.program, self.stages)
        self.block_names = block_names(self.blocks)
        self.plan = make_plan(self.program, self.stages, self.blocks)
        self.prologue = Prologue(self.program)
        self.outputs = PrologueOutputs(self.prologue, self.plan.prologue)
        found = [
            vectorise(self.program, self.prologue, block, self.stages.speculated)
            for block in self.blocks
        ]
        self.inference = self._functions(found)

    @property
    def training(self) -> Training:
        """What runs instead when the program is differentiated.

        Raises:
            CannotBatchError: If it cannot be.
        """
        with self._lock:
            if self._training is None:
                self._training = self._differentiate()
            return self._training

    def _differentiate(self) -> Training:
        made = [
            make_training_block(
                self.program, self.prologue, block, self.stages.speculated
            )
            for block in self.blocks
        ]
        return Training(
            made,
            self._functions([(b.forward, b.forward_invariants) for b in made]),
            self._functions([(b.backward, b.backward_invariants) for b in made]),
            self._functions([(b.deferred, b.deferred_invariants) for b in made]),
        )

    def check_differentiable(self) -> None:
        """Raises CannotBatchError for ops that can be batched, but not in training."""
        for block in self.blocks:
            for op in block.ops:
                check_gradient(self.program, op)

    def _functions(
        self, blocks: Sequence[tuple[FuncGraph | None, Sequence[tf.Tensor]]]
    ) -> BlockFunctions:
        return BlockFunctions(
            [tf_compat.make_function(g) for g, _ in blocks if g is not None],
            [self.outputs.indices_of(i) for g, i in blocks if g is not None],
        )

    def attributes(self, graph: tf.Graph) -> dict[str, Any]:
        """Returns attributes of the root op, which is added to `graph`."""
        with self._lock:
            return {
                **self.names(),
                **self.inference.attributes(graph, "blocks"),
                **self.outputs.attributes(graph),
            }

    def names(self) -> dict[str, Any]:
        """Returns attributes that the root op has in all forms, its gradient too."""
        return {
            "plan": encode(self.plan),
            "block_names": self.block_names,
        }

    def training_attributes(self, graph: tf.Graph) -> dict[str, Any]:
        """Returns those of the root op's that are others in training form."""
        with self._lock:
            return {
                **self.names(),
                **self.training.forward.attributes(graph, "blocks"),
                **self.outputs.attributes(graph),
                "gradient_plan": self.training.gradient_plan(),
            }
