"""A plan, and that of its gradient, as numbers: for attributes of the root ops.

`recursive_tf/cc/batching/plan_decoder.h` and `gradient_plan_decoder.h` read them; both
sides change together, and with them the version.
"""

from collections.abc import Iterator, Sequence

from recursive_tf.python.batching.encode.gradient_plan import BlockGradient
from recursive_tf.python.batching.plan.plan import (
    Branch,
    CallSite,
    Plan,
    Procedure,
    Source,
    Stage,
)

VERSION = 3

# What decides of a call, if anything does.
_BY_SELECTOR, _BY_KEY = 1, 2


def encode(plan: Plan) -> list[int]:
    """Returns the numbers that stand for `plan`."""
    code = [VERSION, len(plan.prologue), plan.num_blocks, len(plan.procedures)]
    for procedure in plan.procedures:
        code += _procedure(procedure)
    return code


def encode_gradients(blocks: Sequence[BlockGradient]) -> list[int]:
    """Returns the numbers that stand for the gradients of the blocks of a plan."""
    code = [VERSION, len(blocks)]
    for block in blocks:
        code.append(block.num_extras)
        code += _list(block.kept)
        code += [int(block.has_backward), int(block.has_deferred)]
        code += _list(block.tape)
        code += _list(block.cotangents)
        code += _list(block.input_gradients)
        code.append(len(block.deferred))
        code += [number for place in block.deferred for number in place]
    return code


def _list(numbers: Sequence[int]) -> Iterator[int]:
    yield len(numbers)
    yield from numbers


def _procedure(procedure: Procedure) -> Iterator[int]:
    yield int(procedure.is_branch)
    yield procedure.num_arguments
    yield procedure.num_slots
    yield from _sources(procedure.outputs)
    yield int(procedure.goes_on is not None)
    if procedure.goes_on is not None:
        yield from _branch(procedure.goes_on)
    yield len(procedure.stages)
    for stage in procedure.stages:
        yield from _stage(stage)
    yield len(procedure.lists)
    for items in procedure.lists:
        yield from (items.slot, items.no_items, _source(items.count))


def _stage(stage: Stage) -> Iterator[int]:
    yield stage.block
    yield len(stage.inputs)
    for pieces in stage.inputs:
        yield from _sources(pieces)
    yield stage.first_output
    yield stage.num_outputs
    yield len(stage.pushes)
    for push in stage.pushes:
        yield from (push.table, _source(push.index), _source(push.value))
    yield len(stage.calls)
    for call in stage.calls:
        yield from _call(call)


def _call(call: CallSite) -> Iterator[int]:
    yield call.site
    yield call.num_mapped
    if call.selector is not None:
        yield from (_BY_SELECTOR, _source(call.selector))
    elif call.key is not None:
        yield from (_BY_KEY, _source(call.key))
    else:
        yield from (0, 0)
    yield call.first_result
    yield len(call.branches)
    for branch in call.branches:
        yield from _branch(branch)


def _branch(branch: Branch) -> Iterator[int]:
    yield branch.procedure
    yield from _sources(branch.arguments)


def _sources(sources: tuple[Source, ...]) -> Iterator[int]:
    yield from _list([_source(source) for source in sources])


def _source(source: Source) -> int:
    """Returns a slot as it is, and an output of the prologue below zero."""
    return ~source.index if source.of_prologue else source.index
