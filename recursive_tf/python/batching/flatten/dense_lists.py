"""Lists of tensors that loops around calls carry become tensors.

Such a list goes from turn to turn, so from block to block, where only rows go. Its
places are then the first axis of a tensor of known length: what is written at a place
is scattered into it. A list that no loop around a call carries stays one: it costs
nothing while a block is vectorized, see rules/lists.py.
"""

from collections.abc import Callable, Collection, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.program.closed_graph import CALLS, PUSHES
from recursive_tf.python.program.effects import contains, ops_within
from recursive_tf.python.program.functional_ops import copy_conditional, copy_loop
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    LOOPS,
    GraphCopy,
    Rewrite,
    Substitution,
    branch_graphs,
)
from recursive_tf.python.tf_compat import FuncGraph

_LISTS = "TensorList"


class DenseLists:
    """Procedures whose loops carry no lists, where that can be.

    Args:
        graphs: The closed procedures.
        waiting_loops: Loops of theirs that wait though they call nothing.

    Attributes:
        graphs: The procedures; those without lists as they were.
        waiting_loops: The same loops in these.
    """

    def __init__(
        self, graphs: Sequence[FuncGraph], waiting_loops: Collection[tf.Operation]
    ) -> None:
        self._waits = waiting_loops
        self._sources: dict[tf.Operation, tf.Operation] = {}
        self._rewrite = Rewrite(
            {
                **dict.fromkeys(CONDITIONALS, copy_conditional),
                **dict.fromkeys(LOOPS, self._copy_loop),
                **{op_type: _substitution(op_type) for op_type in _list_ops(graphs)},
                "Identity": _pass_on,
            }
        )
        self.graphs = [self._copied(graph) for graph in graphs]
        copied = set(self._sources.values())
        self.waiting_loops = {loop for loop in waiting_loops if loop not in copied}
        self.waiting_loops.update(
            loop for loop, source in self._sources.items() if source in waiting_loops
        )

    def source_of(self, loop: tf.Operation) -> tf.Operation:
        """Returns what a loop of `graphs` was in the closed procedures."""
        return self._sources.get(loop, loop)

    def _copied(self, graph: FuncGraph) -> FuncGraph:
        if not _list_ops([graph]):
            return graph
        target = FuncGraph(tf_compat.unique_name("dense"))
        copy = GraphCopy(graph, target, self._rewrite)
        for source in graph.inputs:
            copy.bind_input(source)
        copy.run()
        return copy.target

    def _copy_loop(self, copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor]:
        inputs = [copy.resolve(variable) for variable in op.inputs]
        if op in self._waits or contains(op, CALLS | PUSHES):
            _, body = branch_graphs(op)
            for i, value in enumerate(inputs):
                end = body.outputs[i]
                if value.dtype == tf.variant and _origin(end) is body.inputs[i]:
                    inputs[i] = _as_tensor(value, end)
        outputs = copy_loop(copy, op, inputs=inputs)
        self._sources[outputs[0].op] = op
        return outputs


def _list_ops(graphs: Sequence[FuncGraph]) -> list[str]:
    """Returns the types of all ops of lists, sorted."""
    types = {op.type for graph in graphs for op in ops_within(graph)}
    return sorted(op_type for op_type in types if op_type.startswith(_LISTS))


def _origin(tensor: tf.Tensor) -> tf.Tensor:
    """Returns the list that a list was before anything was written to it."""
    op, index = tensor.op, tensor.value_index
    if op.type in ("Identity", "TensorListSetItem"):
        return _origin(op.inputs[0])
    before = {_place(_origin(end), inputs) for end, inputs in _ways(op, index)}
    if op.type in LOOPS:  # Where it stays at its place.
        return _origin(op.inputs[index]) if before == {index} else tensor
    place = before.pop() if len(before) == 1 else None
    return tensor if place is None else _origin(op.inputs[1 + place])


def _ways(op: tf.Operation, index: int) -> list[tuple[tf.Tensor, list[tf.Tensor]]]:
    """Returns what gives an output of a conditional or a loop, and its inputs."""
    graphs = branch_graphs(op) if op.type in CONDITIONALS | LOOPS else []
    if op.type in LOOPS:
        graphs = graphs[1:]  # Its condition gives nothing.
    return [(graph.outputs[index], list(graph.inputs)) for graph in graphs]


def _place(tensor: tf.Tensor, tensors: Sequence[tf.Tensor]) -> int | None:
    return next((i for i, t in enumerate(tensors) if t is tensor), None)


def _as_tensor(value: tf.Tensor, after_a_turn: tf.Tensor) -> tf.Tensor:
    """Returns what a list holds; the list itself if it is not known how much.

    Args:
        value: A list, before a loop.
        after_a_turn: The same in the loop's body, at its end.
    """
    made_by = _origin(value).op
    spec = _spec_of_list(made_by, after_a_turn)
    if spec is None:
        return value
    if made_by is not value.op:
        return tf.raw_ops.TensorListStack(
            input_handle=value,
            element_shape=spec.shape[1:],
            element_dtype=spec.dtype,
            num_elements=spec.shape[0],
        )
    if made_by.type == "TensorListFromTensor":
        return made_by.inputs[0]
    return tf.zeros(spec.shape, spec.dtype)


def _spec_of_list(
    made_by: tf.Operation, after_a_turn: tf.Tensor
) -> tf.TensorSpec | None:
    if made_by.type == "TensorListFromTensor":
        return tf.TensorSpec(made_by.inputs[0].shape, made_by.inputs[0].dtype)
    if made_by.type != "TensorListReserve":
        return None
    count = static_value(made_by.inputs[1])
    shape = _shape_of_items(made_by, after_a_turn)
    if count is None or shape is None:
        return None
    return tf.TensorSpec([int(count), *shape], made_by.get_attr("element_dtype"))


def _shape_of_items(reserve: tf.Operation, after_a_turn: tf.Tensor) -> list[int] | None:
    """Returns the shape that was stated, or else that of what is written."""
    stated = static_value(reserve.inputs[0])
    if stated is not None and stated.ndim and (stated >= 0).all():
        return list(map(int, stated))
    return _shape_written(after_a_turn)


def _shape_written(tensor: tf.Tensor) -> list[int] | None:
    op = tensor.op
    if op.type == "Identity":
        return _shape_written(op.inputs[0])
    if op.type == "TensorListSetItem":
        shape = op.inputs[2].shape
        return shape.as_list() if shape.is_fully_defined() else None
    shapes = (_shape_written(end) for end, _ in _ways(op, tensor.value_index))
    return next((shape for shape in shapes if shape is not None), None)


# --- Ops of lists that are tensors now


def _substitution(op_type: str) -> Substitution:
    """Returns how an op of a list is copied; as it is, if that is a list still."""
    become: Callable[..., tf.Tensor] = _OF_TENSORS.get(op_type, _refuse)

    def substitution(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor] | None:
        inputs = [copy.resolve(tensor) for tensor in op.inputs]
        if not op.inputs or op.inputs[0].dtype != tf.variant:
            return None  # It makes a list.
        if inputs[0].dtype == tf.variant:
            if not _is_looked_up(op_type, inputs):
                return None
            inputs[0] = inputs[0].op.inputs[0]
        result = become(op, *inputs)
        copy.register(op, result.op)
        return [result]

    return substitution


def _is_looked_up(op_type: str, inputs: Sequence[tf.Tensor]) -> bool:
    """Says whether an op reads any place of a list that was made of a tensor."""
    made_by = inputs[0].op.type
    if op_type != "TensorListGetItem" or made_by != "TensorListFromTensor":
        return False
    return static_value(inputs[1]) is None


def _pass_on(copy: GraphCopy, op: tf.Operation) -> list[tf.Tensor] | None:
    found = copy.resolve(op.inputs[0])
    return None if found.dtype == op.inputs[0].dtype else [found]


def _set_item(
    op: tf.Operation,
    values: tf.Tensor,
    index: tf.Tensor,
    item: tf.Tensor,
    *_: tf.Tensor,
) -> tf.Tensor:
    if op.get_attr("resize_if_index_out_of_bounds"):
        _refuse(op)
    return tf.tensor_scatter_nd_update(values, [[index]], [item])


def _get_item(
    op: tf.Operation, values: tf.Tensor, index: tf.Tensor, *_: tf.Tensor
) -> tf.Tensor:
    del op
    return tf.gather(values, index)


def _stack(op: tf.Operation, values: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
    del op
    return tf.identity(values)


def _length(op: tf.Operation, values: tf.Tensor) -> tf.Tensor:
    del op
    return tf.constant(values.shape[0])


def _refuse(op: tf.Operation, *_: tf.Tensor) -> tf.Tensor:
    raise CannotBatchError(
        op,
        "a loop around a call carries it, and the length of its list may differ "
        "between activations. Give the tf.TensorArray a size, and do not let it grow, "
        "or use the dataflow executor.",
    )


_OF_TENSORS: dict[str, Callable[..., tf.Tensor]] = {
    "TensorListGather": _get_item,
    "TensorListGetItem": _get_item,
    "TensorListLength": _length,
    "TensorListSetItem": _set_item,
    "TensorListStack": _stack,
}
