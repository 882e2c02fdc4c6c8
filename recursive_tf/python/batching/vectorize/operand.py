"""What an op takes and gives while its block is vectorized."""

import dataclasses

import tensorflow as tf

from recursive_tf.python.batching.vectorize.item_axis import ItemAxis


@dataclasses.dataclass(frozen=True)
class Operand:
    """A value of a vectorized block.

    Attributes:
        tensor: With `is_row` it is of the block's graph, with rows in front; else of
            the prologue's graph, the same for all rows.
        is_row: Whether each row has its own.
        axis: If each row has any number of items, theirs. Then there is an item
            in the place of a row, which is seen as a list of one.
    """

    tensor: tf.Tensor
    is_row: bool
    axis: ItemAxis | None = None

    @property
    def shape(self) -> list[int]:
        """The shape that one row sees."""
        shape = self.tensor.shape
        return list((shape[1:] if self.is_row else shape).as_list())

    @property
    def rank(self) -> int:
        """The rank that one row sees."""
        return len(self.shape)
