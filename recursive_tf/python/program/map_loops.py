"""Loops that are maps: `tf.map_fn` of a function that only calls a SubGraph.

Its turns do not need each other, but a loop takes one after the other. As `.map` they
run in parallel, or at once.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.graph_copy import (
    LOOPS,
    GraphCopy,
    behind_identities,
    branch_graphs,
)
from recursive_tf.python.tf_compat import FuncGraph
from recursive_tf.python.tracing.function_graph import CALL


@dataclasses.dataclass
class MapLoop:
    """A loop that is a map. All tensors are of the graph around it.

    Attributes:
        call: The call in its body.
        handle: The handle that the call takes.
        count: How many turns it takes.
        arguments: Of the call: each a tensor, and whether it has a row for each turn.
        results: Which output of the call is written to the list that is an output of
            the loop; -1 for an output that counts turns. What is left out stays as it
            was before the loop.
    """

    call: tf.Operation
    handle: tf.Tensor
    count: tf.Tensor
    arguments: list[tuple[tf.Tensor, bool]]
    results: dict[int, int]


class _NoMapError(Exception):
    """The loop is no map."""


def as_map(op: tf.Operation) -> MapLoop | None:
    """Returns what a loop maps, or None if it does anything else."""
    condition, body = branch_graphs(op)
    calls = [inner for inner in body.get_operations() if inner.type == CALL]
    if len(calls) != 1:
        return None
    try:
        return _Matcher(op, condition, body, calls[0]).match()
    except _NoMapError:
        return None


def rows_for(copy: GraphCopy, loop: MapLoop) -> list[tf.Tensor]:
    """Returns the arguments of the map, in the copy of the graph around the loop."""
    count = copy.resolve(loop.count)
    return [
        copy.resolve(tensor) if has_rows else _repeated(copy.resolve(tensor), count)
        for tensor, has_rows in loop.arguments
    ]


def outputs_of(
    copy: GraphCopy, op: tf.Operation, loop: MapLoop, results: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """Returns what takes the place of the loop's outputs.

    Args:
        copy: Of the graph around the loop.
        op: The loop.
        loop: The same, as a map.
        results: Of the map.
    """
    found = []
    for i, tensor in enumerate(op.inputs):
        written = loop.results.get(i)
        if written is None:
            found.append(copy.resolve(tensor))
        elif written < 0:
            found.append(tf.cast(copy.resolve(loop.count), tensor.dtype))
        else:
            found.append(
                tf.raw_ops.TensorListFromTensor(
                    tensor=results[written],
                    element_shape=copy.resolve(tensor.op.inputs[0]),
                )
            )
    return found


def rows_of(copy: GraphCopy, op: tf.Operation) -> tf.Tensor | None:
    """Returns the rows that a stacked list is, if it was a map that gave them.

    Not if their number is known, which rows of a map do not tell.

    Args:
        copy: Of the graph that the op is in.
        op: A TensorListStack.
    """
    made_by = copy.resolve(op.inputs[0]).op
    is_mapped = op.inputs[0].op.type in LOOPS and made_by.type == "TensorListFromTensor"
    is_known = op.get_attr("num_elements") >= 0
    return made_by.inputs[0] if is_mapped and not is_known else None


def _repeated(tensor: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    return tf.broadcast_to(tensor, tf.concat([[count], tf.shape(tensor)], 0))


class _Matcher:
    def __init__(
        self,
        op: tf.Operation,
        condition: FuncGraph,
        body: FuncGraph,
        call: tf.Operation,
    ) -> None:
        self._op = op
        self._condition = condition
        self._body = body
        self._call = call
        self._places = {id(tensor): i for i, tensor in enumerate(body.inputs)}
        self._kept = {
            i
            for i, output in enumerate(body.outputs)
            if behind_identities(output) is body.inputs[i]
        }

    def match(self) -> MapLoop:
        results = {
            i: self._result(behind_identities(output))
            for i, output in enumerate(self._body.outputs)
            if i not in self._kept
        }
        handle, *inputs = self._call.inputs
        arguments = [self._argument(tensor) for tensor in inputs]
        self._check_effects()
        sources = [tensor for tensor, has_rows in arguments if has_rows]
        count = self._count(results, sources)
        handle = self._kept_input(handle)
        return MapLoop(self._call, handle, count, arguments, results)

    def _result(self, output: tf.Tensor) -> int:
        """Returns which output of the call is written, or -1 for a counter."""
        op = output.op
        if op.type == "AddV2":
            place, one = self._place(op.inputs[0]), tf.get_static_value(op.inputs[1])
            _require(one == 1 and _is_zero(self._op.inputs[place]))
            return -1
        _require(op.type == "TensorListSetItem")
        _require(not op.get_attr("resize_if_index_out_of_bounds"))
        self._check_counter(op.inputs[1])
        _require(op.inputs[2].op is self._call)
        return int(op.inputs[2].value_index)

    def _argument(self, tensor: tf.Tensor) -> tuple[tf.Tensor, bool]:
        op = tensor.op
        if id(tensor) in self._places:
            return self._kept_input(tensor), False
        _require(op.type == "TensorListGetItem")
        self._check_counter(op.inputs[1])
        made_by = self._kept_input(op.inputs[0]).op
        _require(made_by.type == "TensorListFromTensor")
        return made_by.inputs[0], True

    def _count(self, results: dict[int, int], sources: list[tf.Tensor]) -> tf.Tensor:
        """Returns the length of all lists, which is what bounds the counters."""
        lengths = []
        for i, written in results.items():
            if written >= 0:
                reserve = self._op.inputs[i].op
                _require(reserve.type == "TensorListReserve")
                lengths.append(reserve.inputs[1])
        _require(bool(lengths) and bool(sources))
        bounds = self._bounds(behind_identities(self._condition.outputs[0]))
        _require(all(_same(lengths[0], other) for other in lengths + bounds))
        _require(_is_number_of_rows(lengths[0], sources))
        return lengths[0]

    def _bounds(self, goes_on: tf.Tensor) -> list[tf.Tensor]:
        op = goes_on.op
        if op.type == "LogicalAnd":
            return [bound for part in op.inputs for bound in self._bounds(part)]
        _require(op.type == "Less")
        places = {id(tensor): i for i, tensor in enumerate(self._condition.inputs)}
        counter, bound = (places.get(id(tensor)) for tensor in op.inputs)
        _require(counter is not None and counter not in self._kept)
        if bound is None:
            return [op.inputs[1]]
        _require(bound in self._kept)
        return [self._op.inputs[bound]]

    def _check_counter(self, tensor: tf.Tensor) -> None:
        place = self._place(tensor)
        _require(self._result(behind_identities(self._body.outputs[place])) == -1)

    def _check_effects(self) -> None:
        effects = [
            op for op in self._body.get_operations() if tf_compat.is_stateful(op)
        ]
        _require(all(op is self._call for op in effects))

    def _kept_input(self, tensor: tf.Tensor) -> tf.Tensor:
        place = self._place(tensor)
        _require(place in self._kept)
        return self._op.inputs[place]

    def _place(self, tensor: tf.Tensor) -> int:
        _require(id(tensor) in self._places)
        return self._places[id(tensor)]


def _require(condition: bool) -> None:
    if not condition:
        raise _NoMapError


def _is_zero(tensor: tf.Tensor) -> bool:
    return bool(tf.get_static_value(tensor) == 0)


def _same(one: tf.Tensor, other: tf.Tensor) -> bool:
    values = tf.get_static_value(one), tf.get_static_value(other)
    known = None not in values and np.array_equal(*values)
    return known or behind_identities(one) is behind_identities(other)


def _is_number_of_rows(count: tf.Tensor, sources: list[tf.Tensor]) -> bool:
    known = tf.get_static_value(count)
    if known is not None:
        return all(source.shape[:1] == [int(known)] for source in sources)
    op = behind_identities(count).op
    if op.type != "StridedSlice" or op.inputs[0].op.type != "Shape":
        return False
    first = zip(op.inputs[1:], ([0], [1], [1]), strict=True)
    is_first = all(np.array_equal(tf.get_static_value(t), place) for t, place in first)
    return is_first and any(op.inputs[0].op.inputs[0] is source for source in sources)
