"""What there is to say about a program before it runs."""

import dataclasses
import functools
from collections.abc import Callable, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.compilation import Compilation
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.gradient.batched import compilation_of
from recursive_tf.python.options import policy_in_words
from recursive_tf.python.reports.passes_in_words import passes_in_words
from recursive_tf.python.reports.plan_in_words import call_sites_in_words, plan_in_words
from recursive_tf.python.root_calls.root_call import RootCall
from recursive_tf.python.root_calls.root_op import (
    BATCHED,
    REASONS_ATTRIBUTE,
    graphs_of,
    texts_of,
)
from recursive_tf.python.tf_compat import FuncGraph


@dataclasses.dataclass(frozen=True)
class ExplainedProgram:
    """A program: that of a SubGraph, or of a root op.

    Attributes:
        key: The name of its first procedure's function; in a process no two programs
            have the same.
        names: Of the SubGraphs; the root call invokes the first.
        executor: What runs it: "batched" or "dataflow".
        reasons: Why it is not batched.
        policy: What decides which block is launched next, if it is.
        block_names: What is launched.
    """

    key: str
    names: list[str]
    executor: str
    reasons: list[str]
    policy: str
    block_names: list[str]
    _tables: Sequence[str]
    _graphs: Sequence[FuncGraph]
    _compilation: Callable[[], Compilation | None]
    _later: Sequence[str] = ()

    def describe(self) -> str:
        """Returns what the program consists of, with lines of the user's code."""
        lines = [
            f"after the calls, for all rows: push '{name}'" for name in self._later
        ]
        return "\n".join([self._describe_calls(), *lines])

    def _describe_calls(self) -> str:
        if self.executor == "dataflow":
            return call_sites_in_words(self._graphs, self.names)
        found = self._compiled()
        if found is None:
            return "\n".join(f"runs '{name}'" for name in self.block_names)
        # Of a program that was loaded, the lines are known of the op alone.
        names = dataclasses.replace(
            found.names_with(self.names), blocks=self.block_names
        )
        return plan_in_words(found.plan, found.blocks, names, self._tables)

    def passes(self) -> dict[str, str]:
        """Returns what each pass of the compiler made of the program, op by op.

        Returns:
            By pass, in their order: "closed" is what both executors run; then, if the
            program is batched, "flattened" is without nesting, "vectorized" has the
            prologue and the blocks for any number of rows, and "differentiated" the
            blocks with the parts of their gradients. Of a loaded program that needs a
            rule which is not there it is the first alone.
        """
        return passes_in_words(self._graphs, self.names, self._compiled())

    def _compiled(self) -> Compilation | None:
        """Returns what the batched executor runs, if that runs it and it is known.

        It is not if it was loaded from a file, and a rule that it needs was not, or
        is another one.
        """
        if self.executor == "dataflow":
            return None
        try:
            found = self._compilation()
        except CannotBatchError:
            return None
        is_the_same = found is not None and len(found.blocks) == len(self.block_names)
        return found if is_the_same else None


def program_of_root_call(root_call: RootCall) -> ExplainedProgram:
    """Returns the program of a SubGraph."""
    compilation = root_call.compilation_of(mapped=False)
    procedures = root_call.program.procedures
    names = [p.name for p in procedures]
    blocks = [] if compilation is None else compilation.names_with(names).blocks
    return ExplainedProgram(
        key=tf.compat.as_str(procedures[0].function.name),
        names=names,
        executor="dataflow" if compilation is None else "batched",
        reasons=root_call.reasons_of(mapped=False),
        policy=policy_in_words(root_call.options.policy),
        block_names=blocks,
        _tables=[push.name for push in root_call.program.pushes],
        _graphs=[tf_compat.to_func_graph(p.function) for p in procedures],
        _compilation=lambda: compilation,
        _later=[push.table for push in root_call.program.lazy],
    )


def program_of_op(op: tf.Operation) -> ExplainedProgram:
    """Returns the program of a root op."""
    is_batched = op.type == BATCHED
    return ExplainedProgram(
        key=op.get_attr("procedures")[0].name,
        names=texts_of(op, "names"),
        executor="batched" if is_batched else "dataflow",
        reasons=tf_compat.get_strings(op, REASONS_ATTRIBUTE),
        policy=policy_in_words(op.get_attr("policy").decode()) if is_batched else "",
        block_names=texts_of(op, "block_names") if is_batched else [],
        _tables=texts_of(op, "push_names"),
        _graphs=graphs_of(op),
        _compilation=functools.partial(compilation_of, op),
    )
