"""A program for its user to read: what runs where in their code, what calls what."""

import collections
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.plan.block_names import Names
from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.plan.plan import NO_BLOCK, CallSite, Plan, Stage
from recursive_tf.python.program.closed_graph import CALLS, SHARED_CALLS
from recursive_tf.python.program.effects import ops_within
from recursive_tf.python.tf_compat import FuncGraph

_WIDTH = 88


def plan_in_words(
    plan: Plan, blocks: Sequence[Block], names: Names, tables: Sequence[str]
) -> str:
    """Returns what each procedure runs, pushes and calls.

    Args:
        plan: The plan.
        blocks: What it runs.
        names: Of the procedures and the blocks.
        tables: The names of what is pushed.
    """
    lines = []
    for procedure, name in zip(plan.procedures, names.procedures, strict=True):
        lines.append(name)
        own = [
            line
            for stage in procedure.stages
            for line in _stage(stage, plan, blocks, names, tables)
        ]
        lines += own or ["  computes nothing"]
    return "\n".join(lines)


def call_sites_in_words(graphs: Sequence[FuncGraph], names: Sequence[str]) -> str:
    """Returns what each procedure calls, and where."""
    lines = []
    calls = [[op for op in ops_within(g) if op.type in CALLS] for g in graphs]
    shared = {
        front: op.get_attr("callee")
        for front, own in enumerate(calls)
        for op in own
        if op.type in SHARED_CALLS
    }
    for index, name in enumerate(names):
        if index in shared.values():
            continue
        lines.append(name + (", once for each key" if index in shared else ""))
        own = calls[index] + (calls[shared[index]] if index in shared else [])
        sites = [_call_site(op, names) for op in own if op.type not in SHARED_CALLS]
        lines += sites or ["  calls nobody"]
    return "\n".join(lines)


def _call_site(op: tf.Operation, names: Sequence[str]) -> str:
    place = tf_compat.place_in_user_code(op)
    at = "" if place is None else f" at {place}"
    return f"  call#{op.get_attr('site')} of {names[op.get_attr('callee')]}{at}"


def _stage(
    stage: Stage,
    plan: Plan,
    blocks: Sequence[Block],
    names: Names,
    tables: Sequence[str],
) -> Iterator[str]:
    if stage.block != NO_BLOCK:
        ops = _counted(op.type for op in blocks[stage.block].ops)
        yield _wrapped(f"runs '{names.blocks[stage.block]}': {ops}")
    for push in stage.pushes:
        yield f"  pushes '{tables[push.table]}'"
    calls = [c for c in stage.calls if not _is_branched(c, plan)]
    if calls:
        callees = [_callees(call, names)[0] for call in calls]
        yield _wrapped(f"calls {', '.join(callees)}")
    for choice in stage.calls:
        if _is_branched(choice, plan):
            once = "" if choice.key is None else ", once for each key"
            yield _wrapped(f"goes on in {' or '.join(_callees(choice, names))}{once}")


def _is_branched(call: CallSite, plan: Plan) -> bool:
    return plan.procedures[call.branches[0].procedure].is_branch


def _callees(call: CallSite, names: Names) -> list[str]:
    called = [names.procedures[branch.procedure] for branch in call.branches]
    return [f"{name} for each item" for name in called] if call.num_mapped else called


def _counted(types: Iterable[str]) -> str:
    """Returns e.g. "Sub x2, Less"."""
    counts = collections.Counter(types)
    return ", ".join(t if n == 1 else f"{t} x{n}" for t, n in counts.items())


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
