"""Drafts: ops as values, before there is a graph of them.

An op in a graph of TensorFlow's costs far more than a value in Python does:
its name is made unique, its shape is inferred, the stack is kept. So what is only
rewritten is rewritten as drafts, and a graph is made of them once, at the end.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.reachable import reachable
from recursive_tf.python.tf_compat import AttrValue, FuncGraph

# None is of an unknown rank, and in it of an unknown size.
Shape: TypeAlias = tuple[int | None, ...] | None


class Spec(NamedTuple):
    """What is known of a value before run time."""

    dtype: tf.DType
    shape: Shape


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """An op that is in no graph yet.

    It does not hold what it gives, but is held by that: so drafts are never in a cycle,
    and go as soon as nobody has them.

    Attributes:
        type: Of the op.
        inputs: What it takes, of other drafts.
        specs: What it gives.
        attrs: Those that say what it computes.
        name: For profiles; the op gets one like it.
        source: The op that it stands for, if it does: for who is told of it.
        value: Of a constant, if that is small.
        number: A draft comes after what it takes.
    """

    type: str
    inputs: Sequence["Drafted"]
    specs: Sequence[Spec]
    attrs: Mapping[str, AttrValue]
    name: str | None = None
    source: tf.Operation | None = None
    value: np.ndarray | None = None
    number: int = dataclasses.field(default_factory=itertools.count().__next__)

    @property
    def outputs(self) -> list["Drafted"]:
        """What it gives."""
        return [Drafted(self, at) for at in range(len(self.specs))]


class Drafted(NamedTuple):
    """What a draft gives, in the place of a tensor; equal if it is the same."""

    op: Draft
    at: int = 0

    @property
    def dtype(self) -> tf.DType:
        """Its type."""
        return self.op.specs[self.at].dtype

    @property
    def shape(self) -> Shape:
        """Its shape."""
        return self.op.specs[self.at].shape

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Its shape, if all of it is known."""
        shape = self.shape
        if shape is None or None in shape:
            return None
        return tuple(size for size in shape if size is not None)


@dataclasses.dataclass(frozen=True)
class DraftGraph:
    """What a graph will be.

    Attributes:
        name: For people.
        inputs: Placeholders.
        outputs: What it gives.
        effects: What it does beside, e.g. assertions, in their order.
    """

    name: str
    inputs: Sequence[Drafted]
    outputs: Sequence[Drafted]
    effects: Sequence[Draft] = ()

    def drafts(self) -> list[Draft]:
        """Returns all that it consists of, but its inputs."""
        given = set(self.inputs)
        return needed_drafts(self.outputs, given.__contains__, self.effects)


def needed_drafts(
    outputs: Iterable[Drafted],
    is_given: Callable[[Drafted], bool],
    effects: Sequence[Draft] = (),
) -> list[Draft]:
    """Returns the drafts that `outputs` follow from; and effects, with theirs."""

    def makers(values: Iterable[Drafted]) -> list[Draft]:
        return [value.op for value in values if not is_given(value)]

    needed = reachable([*effects, *makers(outputs)], lambda op: makers(op.inputs))
    return sorted(needed, key=lambda op: op.number)


def shape_of(tensor: tf.Tensor) -> Shape:
    """Returns the shape of a tensor as drafts have it."""
    shape = tensor.shape
    return None if shape.rank is None else tuple(shape.as_list())


def placeholder(tensor: tf.Tensor, shape: Shape) -> Drafted:
    """Returns what an input for what `tensor` is will be."""
    specs = [Spec(tensor.dtype, shape)]
    return Drafted(Draft("Placeholder", [], specs, {}, source=tensor.op))


def make_graph(drafted: DraftGraph) -> FuncGraph:
    """Returns a graph of drafts."""
    graph = FuncGraph(tf_compat.unique_name(drafted.name))
    made: dict[Draft, Sequence[tf.Tensor]] = {}
    for value in drafted.inputs:
        spec = tf.TensorSpec(value.shape, value.dtype)
        copy = tf_compat.placeholder_like(graph, spec)
        if value.op.source is not None:
            tf_compat.copy_handle_data(value.op.source.outputs[0], copy)
        made[value.op] = [copy]
        graph.inputs.append(copy)
    effects = set(drafted.effects)
    before: list[tf.Operation] = []
    for draft in drafted.drafts():
        op = tf_compat.add_op(
            graph,
            draft.type,
            [made[value.op][value.at] for value in draft.inputs],
            draft.attrs,
            name=draft.name,
            source=draft.source,
        )
        made[draft] = op.outputs
        if draft in effects:
            tf_compat.add_control_inputs(op, before)
            before = [op]
    graph.outputs = [made[value.op][value.at] for value in drafted.outputs]
    return graph
