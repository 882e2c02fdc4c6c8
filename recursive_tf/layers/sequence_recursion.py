"""The recursion along sequences: a step's state is made of that of the step before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from recursive_tf.layers.losses import refused_losses
from recursive_tf.python.options import Options
from recursive_tf.python.subgraphs.subgraph import SubGraph

FORWARD, BACKWARD = "forward", "backward"


class Steps:
    """The steps of sequences, one behind the other.

    Attributes:
        inputs: Of each step: [steps, size].
        first: Of each sequence, its first step.
        last: The same, its last step.
    """

    def __init__(self, ragged: tf.RaggedTensor) -> None:
        self.inputs = ragged.values
        splits = tf.cast(ragged.row_splits, tf.int32)
        self.first, self.last = splits[:-1], splits[1:] - 1

    @property
    def has_steps(self) -> tf.Tensor:
        """Whether a sequence has any: bool [sequences]."""
        return self.first <= self.last

    def are_ends(self, direction: str) -> tf.Tensor:
        """Says of each step, and of one more, whether a direction begins at it.

        A sequence of no steps has the first one of the sequence behind it, or the one
        more; and the last one of the sequence before it, or -1, which counts for none.
        """
        ends = self.first if direction == FORWARD else self.last
        count = tf.shape(self.inputs)[0] + 1
        return tf.math.unsorted_segment_sum(tf.ones_like(ends), ends, count) > 0


def units_of(cell: Any) -> int:
    """Returns how long a cell's output is."""
    size = getattr(cell, "output_size", None) or cell.state_size
    return int(tf.nest.flatten(size)[0])


def encode_steps(  # noqa: PLR0913 (what a recursion is made of)
    steps: Steps,
    cells: Mapping[str, Any],
    *,
    name: str,
    executor: str,
    options: Options | None,
    return_sequences: bool,
    return_state: bool = False,
) -> tuple[tf.Tensor, dict[str, list[tf.Tensor]]]:
    """Runs cells along sequences, each in its direction.

    Args:
        steps: The steps.
        cells: By direction.
        name: Of the SubGraphs.
        executor: Of the SubGraphs.
        options: Of the SubGraphs.
        return_sequences: Whether to return the outputs of all steps.
        return_state: Whether states are asked for.

    Returns:
        Outputs, [steps, units] or [sequences, units]; and the states after the last
        step of each direction, [sequences, ...] each, if they are asked for.
    """
    choices: dict[str, Any] = {"executor": executor, "options": options}
    # All steps are asked for at once, so each has to be computed for all who ask.
    memo = (lambda step: step) if return_sequences else None
    states = {
        direction: _define(steps, direction, cell, f"{name}_{direction}", memo, choices)
        for direction, cell in cells.items()
    }
    with SubGraph(name, **choices) as outputs:
        starts = {direction: outputs.input(tf.int32) for direction in cells}
        is_there = outputs.input(tf.bool)
        found = {
            direction: _found_at(
                states[direction], start, is_there, with_state=return_state
            )
            for direction, start in starts.items()
        }
        outputs.output(
            tf.concat([output for output, *_ in found.values()], 0),
            {direction: state for direction, (_, *state) in found.items()},
        )
    ends = {FORWARD: steps.last, BACKWARD: steps.first}
    if not return_sequences:
        asked = [ends[direction] for direction in cells]
        of_ends: tuple[tf.Tensor, Any] = outputs.map(*asked, steps.has_steps)
        return of_ends
    every = tf.range(tf.shape(steps.inputs)[0])
    asked = [every for _ in cells]
    of_steps, states_of_steps = outputs.map(*asked, tf.ones_like(every, tf.bool))
    return of_steps, {
        direction: [_at_ends(state, ends[direction], steps) for state in found]
        for direction, found in states_of_steps.items()
    }


def _at_ends(rows: tf.Tensor, ends: tf.Tensor, steps: Steps) -> tf.Tensor:
    """Returns the rows of the steps where sequences end; zeros of no step."""
    one_more = tf.shape(rows)[0]
    rows = tf.pad(rows, [[0, 1], [0, 0]])
    return tf.gather(rows, tf.where(steps.has_steps, ends, one_more))


def _define(
    steps: Steps, direction: str, cell: Any, name: str, memo: Any, choices: Any
) -> SubGraph:
    """Returns a SubGraph from a step to the cell's output and state there."""
    dtype = tf.as_dtype(cell.compute_dtype)
    sizes = tf.nest.flatten(cell.state_size)
    signature = [tf.TensorSpec([size], dtype) for size in (units_of(cell), *sizes)]
    before = -1 if direction == FORWARD else 1
    are_ends = steps.are_ends(direction)
    state = SubGraph(name, output_signature=signature, memo=memo, **choices)
    with state:
        step = state.input(tf.int32)
        at_start = [tf.zeros([size], dtype) for size in sizes]
        previous = tf.cond(
            tf.gather(are_ends, step),
            lambda: at_start,
            lambda: list(state(step + before)[1:]),
        )
        rows = [each[tf.newaxis] for each in previous]
        x = tf.cast(tf.gather(steps.inputs, step), dtype)[tf.newaxis]
        with refused_losses(cell):
            output, new = cell(x, _states_of(cell, rows))
        state.output([output[0], *(each[0] for each in tf.nest.flatten(new))])
    return state


def _states_of(cell: Any, rows: list[tf.Tensor]) -> Any:
    """Returns states as Keras's RNN hands them to a cell: one alone is in a list."""
    states = tf.nest.pack_sequence_as(cell.state_size, rows)
    return states if tf.nest.is_nested(states) else [states]


def _found_at(
    state: SubGraph, step: tf.Tensor, is_there: tf.Tensor, *, with_state: bool
) -> list[tf.Tensor]:
    """Returns the cell's output at a step, and its state; zeros of no step."""
    count = None if with_state else 1
    zeros = [tf.zeros(spec.shape, spec.dtype) for spec in state.outputs[:count]]
    found: list[tf.Tensor] = tf.cond(
        is_there, lambda: list(state(step)[:count]), lambda: zeros
    )
    return found
