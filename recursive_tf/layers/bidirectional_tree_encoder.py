"""The layer that runs one cell up a forest and then another one down."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.tree_encoder import TreeEncoder
from recursive_tf.python.options import Options


@keras.saving.register_keras_serializable("recursive_tf")
class BidirectionalTreeEncoder(keras.layers.Layer):
    """Runs a cell from the leaves to the roots, and another one back to the leaves.

    The second cell takes the output of the first one at each node. So every node knows
    the whole tree, and not only what is below it.

    >>> import recursive_tf as rtf
    >>> trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    >>> up = rtf.layers.TreeLSTMCell(8)
    >>> down = rtf.layers.ChildSumTreeLSTMCell(4)
    >>> words = keras.layers.Embedding(10, 4)
    >>> BidirectionalTreeEncoder(up, down, words)(trees).shape
    TensorShape([8, 12])

    It is this model in one layer, with `tf.concat` of both outputs:

        up = TreeEncoder(cell, embedding, return_nodes=True)(trees)
        down = TreeEncoder(down_cell, return_nodes=True, go_down=True)(trees, up)

    Teng, Zhang. Head-Lexicalized Bidirectional Tree LSTMs. TACL 2017: their
    second pass, too, begins at the root with what the first one found there.
    """

    def __init__(
        self,
        cell: Any,
        down_cell: Any,
        embedding: Any = None,
        *,
        executor: str = "auto",
        dag: bool = False,
        options: Options | dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            cell: What a node computes of its children: a cell of `TreeEncoder`, whose
                output is a vector.
            down_cell: What a node computes of its parent, of any number of children or
                of one: see `go_down` of `TreeEncoder`.
            embedding: A Keras layer, of one token; for `cell`.
            executor: Of the SubGraphs: "auto", "batched" or "dataflow".
            dag: Whether nodes may share children.
            options: `rtf.Options` of the SubGraphs.
            **kwargs: Of every Keras layer: name, dtype, trainable.

        Raises:
            TypeError: If a cell is no Keras layer with a method `leaf`.
            ValueError: If both cells are the same, or `down_cell` cannot go down.
        """
        super().__init__(**kwargs)
        if cell is down_cell:
            raise ValueError(
                "Up and down have the same cell, and so the same weights. Make a "
                "second cell: BidirectionalTreeEncoder(cell, down_cell=other)."
            )
        choices: dict[str, Any] = {
            "executor": executor,
            "dag": dag,
            "options": options,
            "return_nodes": True,
            "dtype": self.dtype_policy,
        }
        self.up = TreeEncoder(cell, embedding, name=f"{self.name}_up", **choices)
        self.down = TreeEncoder(
            down_cell, go_down=True, name=f"{self.name}_down", **choices
        )
        self.supports_jit = False  # XLA has no recursion.

    @property
    def cells(self) -> tuple[Any, Any]:
        """The cells: up, and down."""
        return self.up.cell, self.down.cell

    def build(self, forest_shape: Any, inputs_shape: Any = None) -> None:
        """Makes all variables."""
        self.up.build(forest_shape, inputs_shape)
        self.down.build(forest_shape, (None, *self.up.output_of_node.shape))

    def call(
        self, forest: Any, inputs: Any = None, training: bool | None = None
    ) -> tf.Tensor:
        """Returns [num_nodes, units of both cells]; arguments as of `TreeEncoder`."""
        up = self.up(forest, inputs, training=training)
        return tf.concat([up, self.down(forest, up, training=training)], -1)

    def compute_output_spec(
        self, forest: Any, inputs: Any = None, **_: Any
    ) -> keras.KerasTensor:
        """Returns what a functional model sees of the outputs."""
        up = self.up.compute_output_spec(forest, inputs)
        down = self.down.compute_output_spec(forest, up)
        return keras.KerasTensor((None, up.shape[-1] + down.shape[-1]), up.dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        up = self.up.get_config()
        config: dict[str, Any] = super().get_config()
        return config | {
            "cell": up["cell"],
            "down_cell": self.down.get_config()["cell"],
            "embedding": up["embedding"],
            "executor": up["executor"],
            "dag": up["dag"],
            "options": up["options"],
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> BidirectionalTreeEncoder:
        """Returns the layer that these arguments make."""
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("cell", "down_cell", "embedding")
        }
        return cls(**(config | parts))
