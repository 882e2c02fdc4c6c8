"""A plan for people to read."""

from collections.abc import Iterator

from recursive_tf.python.batching.plan.blocks import Block
from recursive_tf.python.batching.plan.plan import (
    NO_BLOCK,
    CallSite,
    Plan,
    Procedure,
    Source,
    Stage,
)


def describe(plan: Plan, blocks: list[Block]) -> str:
    """Returns what each procedure runs, pushes, calls and returns, line by line."""
    return "\n".join(_lines(plan, blocks))


def _lines(plan: Plan, blocks: list[Block]) -> Iterator[str]:
    for procedure in plan.procedures:
        arguments = ", ".join(f"v{i}" for i in range(procedure.num_arguments))
        yield f"{procedure.name}({arguments})"
        for stage in procedure.stages:
            yield from _stage_lines(stage, plan, blocks)
        yield _end(procedure, plan)


def _end(procedure: Procedure, plan: Plan) -> str:
    loop = procedure.goes_on
    if loop is None:
        return f"  return {_list(procedure.outputs)}"
    name = plan.procedures[loop.procedure].name
    return f"  goes on: {name}({_list(loop.arguments)})"


def _stage_lines(stage: Stage, plan: Plan, blocks: list[Block]) -> Iterator[str]:
    if stage.block != NO_BLOCK:
        ops = ", ".join(op.type for op in blocks[stage.block].ops)
        inputs = ", ".join(" + ".join(map(_name, pieces)) for pieces in stage.inputs)
        first = stage.first_output
        outputs = ", ".join(f"v{first + i}" for i in range(stage.num_outputs))
        yield f"  {outputs} = block {stage.block}({inputs}): {ops}"
    for push in stage.pushes:
        yield f"  table {push.table}[{_name(push.index)}] = {_name(push.value)}"
    for call in stage.calls:
        yield f"  v{call.first_result}.. = {_call(call, plan)}"


def _call(call: CallSite, plan: Plan) -> str:
    branches = " | ".join(
        f"{plan.procedures[branch.procedure].name}({_list(branch.arguments)})"
        for branch in call.branches
    )
    if call.num_mapped:
        return f"each of {branches}"
    if call.selector is None:
        return branches
    return f"{_name(call.selector)} ? {branches}"


def _list(sources: tuple[Source, ...]) -> str:
    return ", ".join(map(_name, sources))


def _name(source: Source) -> str:
    return f"once{source.index}" if source.of_prologue else f"v{source.index}"
