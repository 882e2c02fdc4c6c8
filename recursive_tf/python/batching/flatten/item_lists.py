"""Which values of a program are lists: any number of items of each activation.

A list is what `.map` takes and gives where it is not known how many rows there are, and
whatever is computed of that item by item. Lists that have as many items as each other
are of one axis. How many that is stands in the shape of the value that the axis came to
be with, its origin.
"""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.python.batching.flatten.made_ops import MadeOps
from recursive_tf.python.batching.flatten.sizes import Sizes

# What makes a list of what is none: see rules/list_makers.py.
MAKERS = frozenset(
    (
        *("BroadcastTo", "Fill", "IdentityN", "RaggedGather", "Range", "StridedSlice"),
        *("Tile", "Where"),
    )
)
# What needs to be told how many items there are.
_OF_SIZES = frozenset(("BroadcastTo", "Fill", "Tile"))
# Which inputs say how many items these give, whatever they take these of.
_COUNTED_BY = {"RaggedGather": (0, 2), "StridedSlice": (1, 2, 3)}


class ItemLists:
    """The lists of a program, by what computes them.

    Args:
        made: Makes the ops that it needs.
    """

    def __init__(self, made: MadeOps) -> None:
        self._made = made
        self._no_items: dict[object, tf.Tensor] = {}
        self._origins: dict[int, tf.Tensor] = {}
        self._counts: dict[int, tf.Tensor] = {}
        self._sizes = Sizes()
        self._known: dict[object, dict[object, tf.Tensor]] = {}

    def is_list(self, tensor: tf.Tensor) -> bool:
        """Says whether a resolved tensor is a list."""
        return id(tensor) in self._origins

    def origin_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the list with which the axis of a list came to be."""
        return self._origins[id(tensor)]

    def count_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns a vector that begins with the number of items of a list."""
        return self._counts[id(self._origins[id(tensor)])]

    def no_items_of(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns a constant that is like a list, but has no items."""
        key = (tensor.dtype, tuple(tensor.shape))
        if key not in self._no_items:
            self._no_items[key] = self._made.no_rows(tensor)
        return self._no_items[key]

    def set_count(self, origin: tf.Tensor, count: tf.Tensor) -> None:
        """Says how many items there are along the axis of `origin`."""
        self._counts[id(origin)] = count

    def add_like(self, tensor: tf.Tensor, like: tf.Tensor) -> None:
        """Says that `tensor` is a list of the same axis as another."""
        self._origins[id(tensor)] = self._origins[id(like)]

    def add(
        self, output: tf.Tensor, inputs: Sequence[tf.Tensor], scopes: Sequence[object]
    ) -> bool:
        """Says that an op may give a list.

        Args:
            output: Of the op.
            inputs: What the op takes.
            scopes: The procedure that it is in, and those around it: what these have
                is there, too.

        Returns:
            Whether that is the origin of an axis.
        """
        axes = (t for t in inputs if self.is_list(t))
        like = next(axes, None)
        if like is None:
            like = self._sizes.origin_for(output.op, inputs)
        if like is None:
            if output.op.type not in MAKERS - _OF_SIZES:
                return False
            key = _counted_by(output, inputs)
            known = (self._known.get(scope, {}).get(key) for scope in scopes)
            like = next((found for found in known if found is not None), output)
            self._known.setdefault(scopes[0], {})[key] = like
        self._origins[id(output)] = self._origins.get(id(like), output)
        return like is output

    def add_sizes(self, op: tf.Operation, inputs: Sequence[tf.Tensor]) -> None:
        """Finds out which sizes of lists an op gives."""
        if op.type in ("Shape", "Size") and self.is_list(inputs[0]):
            origin = self.origin_of(inputs[0])
            self._sizes.add_shape(op.outputs[0], inputs[0], origin)
        self._sizes.add(op, inputs)

    def origin_for(
        self, op: tf.Operation, inputs: Sequence[tf.Tensor]
    ) -> tf.Tensor | None:
        """Returns the axis of what `op` makes of a size, if that counts items."""
        return self._sizes.origin_for(op, inputs)

    def of_op(self, op: tf.Operation, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Returns by what the lists that an op takes and gives are counted."""
        lists = [t for t in [*inputs, *op.outputs] if self.is_list(t)]
        counts = {id(self.count_of(t)): self.count_of(t) for t in lists if self._has(t)}
        return [c for c in counts.values() if c.op is not op]

    def _has(self, tensor: tf.Tensor) -> bool:
        return id(self._origins[id(tensor)]) in self._counts


def may_be_list(tensor: tf.Tensor) -> bool:
    """Says whether all of a shape is known but how many items there are."""
    shape = tensor.shape
    if not shape.rank or shape[0] is not None or not shape[1:].is_fully_defined():
        return False
    stated = (op for op in tensor.consumers() if op.type == "EnsureShape")
    return not any(op.outputs[0].shape.is_fully_defined() for op in stated)


def _counted_by(output: tf.Tensor, inputs: Sequence[tf.Tensor]) -> object:
    op = output.op
    if op.type == "IdentityN":  # Of rows: see made_ops.py.
        return op.type, inputs[0].shape[0]
    if op.type not in _COUNTED_BY:
        return id(output)
    masks = tuple(
        value.i
        for name, value in sorted(op.node_def.attr.items())
        if name.endswith("_mask")
    )
    return op.type, masks, tuple(id(inputs[i]) for i in _COUNTED_BY[op.type])
