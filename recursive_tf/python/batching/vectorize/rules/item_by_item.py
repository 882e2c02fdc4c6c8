"""Rules of ops that do the same for each item of lists.

Such an op is vectorized as if each item was an activation that has a list of one.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import (
    CannotBatchError,
    faults_of,
    is_of_library,
)
from recursive_tf.python.batching.vectorize.item_axis import ItemAxis
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.kinds import ALIKE, ELEMENTWISE
from recursive_tf.python.batching.vectorize.rules.table import (
    ANY_OTHER,
    register_list_rule,
    rule_of,
)
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.tf_compat import FuncGraph

# Says whether an op takes items one by one, given what it takes.
Condition = Callable[[tf.Operation, list[Operand]], bool]

_MATRIX = 2  # The rank.


def _broadcasts_items(op: tf.Operation, inputs: list[Operand]) -> bool:
    """An item may not become an element of something else."""
    rank = op.outputs[0].shape.rank
    return all(o.rank == rank for o in inputs if o.axis is not None)


def _always(op: tf.Operation, inputs: list[Operand]) -> bool:
    del op, inputs
    return True


def _keeps_first_axis(axes_at: int) -> Condition:
    """Returns the condition of ops along axes: not along that of the items."""

    def keeps(op: tf.Operation, inputs: list[Operand]) -> bool:
        axes = static_value(inputs[axes_at].tensor)
        values = next(o for o in inputs if o.axis is not None)
        if axes is None:
            return False
        rank = values.rank + (op.type == "ExpandDims")
        return all(int(axis) % rank for axis in axes.ravel())

    return keeps


def _attribute_keeps_first_axis(name: str, *, adds: int = 0) -> Condition:
    def keeps(op: tf.Operation, inputs: list[Operand]) -> bool:
        return bool(op.get_attr(name) % (inputs[0].rank + adds))

    return keeps


def _squeezes_others(op: tf.Operation, inputs: list[Operand]) -> bool:
    dims = op.get_attr("squeeze_dims")
    return bool(dims) and all(dim % inputs[0].rank for dim in dims)


def _looks_up_items(op: tf.Operation, inputs: list[Operand]) -> bool:
    """Each item is an index, or each of these looks up in its own."""
    values, indices, *axis = inputs
    along = static_value(axis[0].tensor) if axis else 0
    if along is None or op.get_attr("batch_dims"):
        return False
    if values.axis is None:
        return int(along) % max(values.rank, 1) == 0
    return indices.axis is None and int(along) % values.rank != 0


def _looks_up_at_items(op: tf.Operation, inputs: list[Operand]) -> bool:
    del op
    return inputs[0].axis is None


def _is_product_of_items(op: tf.Operation, inputs: list[Operand]) -> bool:
    """Items are rows of the first factor, or batches."""
    left, right = inputs
    if left.axis is None:
        return False
    if op.type == "MatMul":
        return right.axis is None and not op.get_attr("transpose_a")
    return left.rank > _MATRIX and right.rank in (_MATRIX, left.rank)


def _keeps_first_entry(*values: int) -> Condition:
    """Returns the condition of ops with a parameter that has an entry an axis."""

    def keeps(op: tf.Operation, inputs: list[Operand]) -> bool:
        del op
        parameter = static_value(inputs[1].tensor)
        if parameter is None or inputs[0].axis is None:
            return False
        return list(parameter[0].ravel()) == list(values)

    return keeps


def _takes_all_items(op: tf.Operation, inputs: list[Operand]) -> bool:
    """Of `x[:, 1:]` or `x[..., 0]`, e.g."""
    if any(o.is_row for o in inputs[1:]):
        return False
    if op.get_attr("ellipsis_mask") & 1 or not inputs[1].shape[0]:
        return True
    if (op.get_attr("new_axis_mask") | op.get_attr("shrink_axis_mask")) & 1:
        return False
    strides = static_value(inputs[3].tensor)
    is_all = op.get_attr("begin_mask") & op.get_attr("end_mask") & 1
    return bool(is_all and strides is not None and strides[0] == 1)


def _of_last_axes(rank: int) -> Condition:
    def are_others(op: tf.Operation, inputs: list[Operand]) -> bool:
        del op
        return inputs[0].axis is not None and inputs[0].rank > rank

    return are_others


def _one_hot_after(op: tf.Operation, inputs: list[Operand]) -> bool:
    return inputs[0].axis is not None and op.get_attr("axis") != 0


# Which are element by element too, but have rules of their own.
_OTHERS = ("CheckNumerics", "CheckNumericsV2", "RecursiveMixKey")

_CONDITIONS: dict[str, Condition] = {
    **dict.fromkeys((*ELEMENTWISE, *ALIKE, *_OTHERS), _broadcasts_items),
    **dict.fromkeys(("AddN", "Identity", "IdentityN", "Snapshot"), _always),
    **dict.fromkeys(("OnesLike", "ZerosLike"), _always),
    **dict.fromkeys(("ArgMax", "ArgMin", "Cumprod", "Cumsum"), _keeps_first_axis(1)),
    **dict.fromkeys(("ExpandDims", "ReverseV2"), _keeps_first_axis(1)),
    "ConcatV2": _keeps_first_axis(-1),
    "Split": _keeps_first_axis(0),
    "SplitV": _keeps_first_axis(2),
    "Pack": _attribute_keeps_first_axis("axis", adds=1),
    "Unpack": _attribute_keeps_first_axis("axis"),
    "Squeeze": _squeezes_others,
    **dict.fromkeys(("GatherV2", "ResourceGather"), _looks_up_items),
    **dict.fromkeys(("GatherNd", "ResourceGatherNd"), _looks_up_at_items),
    **dict.fromkeys(("BatchMatMulV2", "BatchMatMulV3", "MatMul"), _is_product_of_items),
    "Pad": _keeps_first_entry(0, 0),
    "PadV2": _keeps_first_entry(0, 0),
    "Tile": _keeps_first_entry(1),
    "Transpose": _keeps_first_entry(0),
    "StridedSlice": _takes_all_items,
    **dict.fromkeys(("LogSoftmax", "Softmax", "TopKV2"), _of_last_axes(1)),
    "BiasAdd": _of_last_axes(1),
    "OneHot": _one_hot_after,
}


def is_item_by_item(op: tf.Operation, inputs: list[Operand]) -> bool:
    """Says whether an op does the same for each item, as far as is known."""
    condition = _CONDITIONS.get(op.type)
    if condition is None:
        condition = _broadcasts_items if tf_compat.is_elementwise(op.type) else None
    return condition is not None and condition(op, inputs)


def item_by_item(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor | Operand]:
    """Takes items for rows."""
    if not is_item_by_item(op, inputs):
        raise not_item_by_item(op)
    return by_items(block, op, inputs)


def not_item_by_item(op: tf.Operation) -> CannotBatchError:
    """Returns the refusal of what is done to a list as a whole."""
    return CannotBatchError(
        op,
        "it is not known how to do it item by item where activations differ in how "
        "many items there are. Use a fixed number and a mask, or the dataflow "
        "executor.",
    )


register_list_rule(*_CONDITIONS, ANY_OTHER)(item_by_item)


def by_items(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> list[Operand]:
    """Returns the lists that an op gives that takes items one by one."""
    axis = axis_of(op, inputs)
    results = alone(block, op, inputs, _check_is_list)
    return [Operand(result, is_row=True, axis=axis) for result in results]


def alone(
    block: VectorizedBlock,
    op: tf.Operation,
    inputs: list[Operand],
    check: Callable[[tf.Operation, int, tf.TensorShape], None],
) -> list[tf.Tensor]:
    """Returns what an op gives for each item, if it was alone in its list.

    Args:
        block: The block.
        op: The op.
        inputs: What it takes.
        check: Refuses an output if its shape is not what it should be for one item.
    """
    axis = axis_of(op, inputs)
    rows = [block.items_of(operand, axis) for operand in inputs]
    of_one = _for_one_item(op, rows)
    for index, output in enumerate(of_one.outputs):
        check(op, index, output.shape)
    view = block.of_items(axis)
    rule = rule_of(of_one)
    block.numbers.are_all &= is_of_library(rule)
    with faults_of(rule, op):
        results = rule(view, of_one, rows)
        shapes = [output.shape for output in of_one.outputs]
        known = [s.as_list() if s.is_fully_defined() else None for s in shapes]
        view.results.check_rows(of_one, known, results, view.num_rows)
    return [view.all_rows(o) if isinstance(o, Operand) else o for o in results]


def _check_is_list(op: tf.Operation, index: int, of_one: tf.TensorShape) -> None:
    """Refuses what gives no list of one item for a list of one item."""
    shape = op.outputs[index].shape
    is_list = of_one.is_fully_defined() and of_one.rank and of_one[0] == 1
    if not is_list or shape.rank != of_one.rank or shape[0] is not None:
        raise not_item_by_item(op)


def axis_of(op: tf.Operation, inputs: list[Operand]) -> ItemAxis:
    """Returns the axis of the lists that an op takes.

    Raises:
        CannotBatchError: If these may have different numbers of items.
    """
    axes = {id(o.axis): o.axis for o in inputs if o.axis is not None}
    axis, *others = axes.values()
    if others:
        raise CannotBatchError(
            op,
            "it is not known whether the lists that it takes have as many items as "
            "each other. Compute them from one list, or use the dataflow executor.",
        )
    return axis


def _for_one_item(op: tf.Operation, rows: list[Operand]) -> tf.Operation:
    """Returns an op like `op` for lists of one item.

    Raises:
        CannotBatchError: If there is none.
    """
    graph = FuncGraph("one_item")
    with graph.as_default():
        inputs = [_like(graph, operand) for operand in rows]
        try:
            alone = tf_compat.create_op(graph, op, inputs)
        except ValueError as error:
            raise not_item_by_item(op) from error
    tf_compat.set_origin(alone, op)
    return alone


def _like(graph: FuncGraph, operand: Operand) -> tf.Tensor:
    value = None if operand.is_row else static_value(operand.tensor)
    if value is not None:
        return tf.constant(value, operand.tensor.dtype)
    if not operand.is_row:
        return tf_compat.placeholder_like(graph, operand.tensor)
    spec = tf.TensorSpec(operand.shape, operand.tensor.dtype)
    return tf_compat.placeholder_like(graph, spec)
