"""From a closed program to what the batched executor runs."""

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.differentiate.training_block import (
    TrainingBlock,
    check_gradient,
    make_training_block,
)
from recursive_tf.python.batching.differentiate.wanted import Wanted
from recursive_tf.python.batching.encode.block_functions import BlockFunctions
from recursive_tf.python.batching.encode.deferred_gradients import (
    DeferredGradients,
)
from recursive_tf.python.batching.encode.encoding import encode, encode_gradients
from recursive_tf.python.batching.encode.gradient_plan import gradient_of
from recursive_tf.python.batching.encode.prologue_outputs import PrologueOutputs
from recursive_tf.python.batching.flatten.dense_lists import DenseLists
from recursive_tf.python.batching.flatten.flat_program import FlatProgram
from recursive_tf.python.batching.flatten.flattening import flatten
from recursive_tf.python.batching.plan.block_names import Names, names_of
from recursive_tf.python.batching.plan.blocks import cut
from recursive_tf.python.batching.plan.plan import make_plan
from recursive_tf.python.batching.plan.sharing import sharing_of
from recursive_tf.python.batching.plan.stages import Stages
from recursive_tf.python.batching.refusal import LoopMustWaitError, faults_of_compiler
from recursive_tf.python.batching.vectorize.any_number import (
    Vectorized,
    inference_form,
    vectorize,
)
from recursive_tf.python.batching.vectorize.prologue import Prologue
from recursive_tf.python.program.derived import derived
from recursive_tf.python.program.unneeded import NOTHING, Unneeded
from recursive_tf.python.tf_compat import FuncGraph


@dataclasses.dataclass(frozen=True)
class Training:
    """What a program runs when it is differentiated.

    Attributes:
        blocks: The blocks with their gradients.
        forward: Takes the place of the blocks.
        backward: What runs for each launch, of the blocks that have such a part.
        deferred: What runs at the end, the same.
        deferred_gradients: What the backward root op gives of that.
    """

    blocks: list[TrainingBlock]
    forward: BlockFunctions
    backward: BlockFunctions
    deferred: BlockFunctions
    deferred_gradients: DeferredGradients

    def gradient_plan(self) -> list[int]:
        """Returns what is kept, taken and returned where, encoded."""
        return encode_gradients([gradient_of(block) for block in self.blocks])


def compiled_once(
    graphs: Sequence[FuncGraph],
    capture_indices: Sequence[Sequence[int]],
    names: Sequence[str],
) -> "Compilation":
    """Returns the compilation of a program; the arguments are those of `Compilation`.

    A gradient finds that of its forward op, unless this was loaded. So do programs that
    are equal: see `program/known_programs.py`.
    """

    def make() -> Compilation:
        with faults_of_compiler():
            return Compilation(graphs, capture_indices, names)

    return derived(graphs[0], "compilation", make)


class Compilation:
    """A closed program, cut into blocks and vectorized.

    It is that of all programs that are equal to it. What its graphs and functions are
    called is of the one that was compiled.

    Thread safety: ops may be added by several threads.

    Attributes:
        program: The procedures, flattened.
        blocks: What is vectorized.
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
        self._training: dict[Unneeded, Training] = {}
        waiting_loops: set[tf.Operation] = set()
        while True:
            dense = DenseLists(graphs, waiting_loops)
            try:
                self._compile(
                    flatten(dense.graphs, capture_indices, names, dense.waiting_loops),
                    names,
                )
                return
            except LoopMustWaitError as error:
                waiting_loops.add(dense.source_of(error.loop))

    def _compile(self, program: FlatProgram, names: Sequence[str]) -> None:
        self.program = program
        self.stages = Stages(self.program)
        self.blocks = cut(self.program, self.stages)
        # Those that were asked for last, and whose they are.
        self._names = (
            tuple(names),
            names_of(self.program.procedures, self.blocks, names),
        )
        self.plan = make_plan(self.program, self.stages, self.blocks)
        self.prologue = Prologue(self.program)
        self.outputs = PrologueOutputs(
            self.prologue, self.plan.prologue, len(self.blocks)
        )
        # Kept for the gradient, if one is asked for; for a TreeLSTM half a megabyte.
        self._vectorized = self._vectorize()
        self.inference = self._functions(list(map(inference_form, self._vectorized)))
        self._encoded_plan = encode(self.plan)
        self.outputs.make_functions()

    def _vectorize(self) -> list[Vectorized]:
        return [
            vectorize(self.program, self.prologue, block, self.stages.wanted)
            for block in self.blocks
        ]

    def training(self, unneeded: Unneeded = NOTHING) -> Training:
        """Returns what runs instead when the program is differentiated.

        All have the same forward parts, and take the same of them.

        Args:
            unneeded: What is not differentiated by.

        Raises:
            CannotBatchError: If it cannot be.
        """
        with self._lock:
            if unneeded not in self._training:
                with faults_of_compiler():
                    self._training[unneeded] = self._differentiate(unneeded)
            return self._training[unneeded]

    def _differentiate(self, unneeded: Unneeded) -> Training:
        # Gradients are added to them. So who tries again, after a fault, has others.
        vectorized, self._vectorized = self._vectorized or self._vectorize(), []
        wanted = Wanted(self.program, self.prologue, unneeded)
        made = [make_training_block(each, wanted) for each in vectorized]
        training = Training(
            made,
            self._functions([(b.forward, b.forward_invariants) for b in made]),
            self._functions([(b.backward, b.backward_invariants) for b in made]),
            self._functions([(b.deferred, b.deferred_invariants) for b in made]),
            DeferredGradients(made),
        )
        for gradient in training.deferred_gradients.gradients:
            for block in gradient.blocks:
                self.outputs.indices_of([gradient.tensor], block)
        self.outputs.make_functions()
        return training

    def check_differentiable(self) -> None:
        """Raises CannotBatchError for ops that can be batched, but not in training."""
        with faults_of_compiler():
            for block in self.blocks:
                for op in block.ops:
                    check_gradient(self.program, op)

    def _functions(
        self, blocks: Sequence[tuple[FuncGraph | None, Sequence[tf.Tensor]]]
    ) -> BlockFunctions:
        return BlockFunctions(
            [tf_compat.make_function(g) for g, _ in blocks if g is not None],
            [
                self.outputs.indices_of(invariants, block)
                for block, (graph, invariants) in enumerate(blocks)
                if graph is not None
            ],
        )

    def names_with(self, subgraphs: Sequence[str]) -> Names:
        """Returns what its parts are called: for errors, traces and learned policies.

        Args:
            subgraphs: The names of the SubGraphs. Those of two equal programs, which
                have one compilation, may differ.
        """
        known, names = self._names
        if known != tuple(subgraphs):
            names = names_of(self.program.procedures, self.blocks, subgraphs)
            self._names = tuple(subgraphs), names
        return names

    def attributes(self, graph: tf.Graph, subgraphs: Sequence[str]) -> dict[str, Any]:
        """Returns attributes of the root op, which is added to `graph`.

        Args:
            graph: Gets the functions.
            subgraphs: The names of the SubGraphs.
        """
        with self._lock:
            return {
                **self.plan_attributes(subgraphs),
                **self.inference.attributes(graph, "blocks"),
                "block_places": self.names_with(subgraphs).places,
                "sharing": [sharing_of(self.program, b) for b in self.blocks],
                **self.outputs.attributes(graph),
            }

    def plan_attributes(self, subgraphs: Sequence[str]) -> dict[str, Any]:
        """Returns attributes that the root op has in all forms, its gradient too."""
        names = self.names_with(subgraphs).blocks
        return {"plan": list(self._encoded_plan), "block_names": names}

    def training_attributes(
        self, graph: tf.Graph, training: Training, subgraphs: Sequence[str]
    ) -> dict[str, Any]:
        """Returns those of the root op's that are others in training form."""
        with self._lock:
            return {
                **self.plan_attributes(subgraphs),
                **training.forward.attributes(graph, "blocks"),
                **self.outputs.attributes(graph),
                "gradient_plan": training.gradient_plan(),
            }
