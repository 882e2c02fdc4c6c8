"""The layer that runs a cell over a forest."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras.src.backend.common.symbolic_scope import in_symbolic_scope

from recursive_tf.data import Forest
from recursive_tf.layers.lookup import vector_of
from recursive_tf.layers.node_cell import NodeCell
from recursive_tf.layers.recursion import Recursion
from recursive_tf.python.options import Options

INPUTS = "inputs"  # The feature that has them in a traced function.


@keras.saving.register_keras_serializable("recursive_tf")
class TreeEncoder(keras.layers.Layer):
    """Runs a cell over every node of a forest, from the leaves to the roots.

    Each node takes an input x. With `inputs`, x is the node's row of these. With an
    `embedding`, x is the vector of the node's token; only nodes that read a word look
    one up. With neither, x is the token.

    >>> import recursive_tf as rtf
    >>> trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    >>> encoder = TreeEncoder(rtf.layers.TreeLSTMCell(8), keras.layers.Embedding(10, 4))
    >>> encoder(trees).shape
    TensorShape([2, 8])

    In a functional model, `ForestInput()` stands for the forest.

    A cell is a Keras layer with two methods, each written for one node. `leaf(x)`
    returns the state of a leaf. `call(children, x)` returns the state of a node with
    children. A state is a structure of tensors, the same for all nodes. A cell may also
    have:

    - `num_children`, by default 2. None is any number. `children` is a tuple of states;
      for any number, it is one state whose tensors are stacked, [k, ...].
    - `may_miss_children`, by default False. If True, a node may have fewer children,
      and the states of missing ones are zeros.
    - `inputs_at`, by default "leaves": then `call` gets x=None. Or "nodes".
    - `output_of(state)`: what the layer returns of a state, a tensor or a structure of
      tensors. By default, it returns the first tensor of the state. If the state is a
      dict, the cell has to say it.

    With `go_down=True`, each node is made of its parent, from the root down. The cell
    takes the parent as it would an only child, and the root as a leaf. So it is a cell
    of any number of children, or of one: `NaryTreeLSTMCell(units, num_children=1)`.
    See `BidirectionalTreeEncoder` for both directions.
    """

    def __init__(  # noqa: PLR0913 (options, all with a default)
        self,
        cell: Any,
        embedding: Any = None,
        *,
        executor: str = "auto",
        return_nodes: bool = False,
        return_state: bool = False,
        go_down: bool = False,
        dag: bool = False,
        options: Options | dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            cell: What a node computes, e.g. `rtf.layers.TreeLSTMCell`.
            embedding: A Keras layer, e.g. `keras.layers.Embedding`, of one token.
            executor: Of the SubGraph: "auto", "batched" or "dataflow".
            return_nodes: Whether to return the outputs of all nodes. By default, only
                those of the roots are returned.
            return_state: Whether to return a pair of outputs and states. The states
                are a structure like the cell's, of the same nodes as the outputs.
            go_down: Whether nodes are made of their parents. Needs `return_nodes`.
            dag: Whether nodes may share children. Each node is then evaluated once.
            options: `rtf.Options` of the SubGraph.
            **kwargs: Of every Keras layer: name, dtype, trainable.

        Raises:
            TypeError: If the cell is no Keras layer with a method `leaf`, or the
                embedding is no Keras layer.
            ValueError: If `go_down` does not fit the cell or the other options.
        """
        super().__init__(**kwargs)
        self._node_cell = NodeCell(cell)
        if not isinstance(embedding, keras.layers.Layer | None):
            raise TypeError(
                f"The embedding of {self.name} is a Keras layer, e.g. "
                f"keras.layers.Embedding(10_000, 300). Got {embedding!r}."
            )
        self.cell = cell
        self.embedding = embedding
        self.executor = executor
        self.return_nodes = return_nodes
        self.return_state = return_state
        self.go_down = go_down
        self.dag = dag
        if go_down:
            self._check_goes_down()
        if isinstance(options, dict):
            options = Options.from_config(options)
        self.options = options
        self.supports_jit = False  # XLA has no recursion.
        self._state: Any = None
        self._output: Any = None
        # An eager call would trace the recursion each time. A function of this layer's
        # own: TensorFlow warns of many traces of one, which other layers would share.
        self._traced = tf.function(functools.partial(self._encode), autograph=False)

    def build(self, forest_shape: Any, inputs_shape: Any = None) -> None:
        """Makes all variables: of the embedding, and of the cell for its vectors."""
        if self.embedding is not None and not self.embedding.built:
            self.embedding.build(())
        self._state, self._output = self._node_cell.build(self._input(inputs_shape))

    @property
    def output_of_node(self) -> Any:
        """The specs of what is returned of a node, once the layer is built."""
        return self._output

    def call(
        self, forest: Any, inputs: Any = None, training: bool | None = None
    ) -> Any:
        """Returns the outputs of roots or nodes.

        Args:
            forest: A `Forest`: a tree or a batch of trees. Or a dict of arrays, by the
                names of its arguments.
            inputs: What each node takes, [num_nodes, ...]; without an embedding.
            training: Whether to drop; Keras hands it to the layers in the cell.

        Returns:
            [num_trees, ...] for a batch, [...] for a tree; with `return_nodes`,
            [num_nodes, ...]. With `return_state`, a pair of these and of the states.
        """
        if in_symbolic_scope() and isinstance(forest, tf.Tensor):
            return self._outputs_like(forest)
        forest = self._with_inputs(_as_forest(forest), inputs)
        run = self._traced if tf.executing_eagerly() else self._encode
        return run(forest, training)

    def _encode(self, forest: Forest, training: bool | None) -> Any:
        del training  # Keras knows; a traced function is to be another one for it.
        recursion = Recursion(
            self._node_cell,
            self._state,
            name=self.name,
            executor=self.executor,
            options=self.options,
            return_state=self.return_state,
            dag=self.dag,
        )
        if self.go_down:
            return recursion.going_down(forest, self._input_of(forest))
        run = recursion.of_nodes if self.return_nodes else recursion.of_roots
        return run(forest, self._input_of(forest))

    def _check_goes_down(self) -> None:
        if not self.return_nodes:
            raise ValueError(
                f"{self.name} goes down, where a root is made of its own x alone. Say "
                "return_nodes=True."
            )
        cell = self._node_cell
        if cell.num_children is None:
            return
        takes_one = cell.num_children == 1 or cell.may_miss_children
        if self.dag or not takes_one:
            raise ValueError(
                f"{self.name} goes down, where a node has "
                f"{'any number of parents' if self.dag else 'one parent'}, but its "
                f"cell takes {cell.num_children} children. Use a cell of any number, "
                "e.g. ChildSumTreeLSTMCell."
            )

    def _with_inputs(self, forest: Forest, inputs: Any) -> Forest:
        """Returns a forest of what is needed, for which few functions are traced."""
        if inputs is None:
            return forest.replace(labels=None, features={})
        if self.embedding is not None:
            raise ValueError(
                f"{self.name} has an embedding and is called with inputs: what is a "
                "node to take? Leave out one of them."
            )
        return forest.replace(labels=None, features={INPUTS: inputs})

    def _input_of(self, forest: Forest) -> Callable[[tf.Tensor], Any]:
        """Returns what a node takes, by its number."""
        rows = forest.features.get(INPUTS, forest.tokens)
        if self.embedding is None:
            return lambda node: tf.gather(rows, node)
        return vector_of(self.embedding, rows)

    def _outputs_like(self, placeholder: tf.Tensor) -> Any:
        """Returns tensors of the outputs' shapes.

        So Keras builds a saved model of a class of its own before it loads its weights:
        it calls the model with placeholders of what it was called with, by shape.
        """
        rows = tf.shape(placeholder)

        def zeros(spec: tf.TensorSpec) -> tf.Tensor:
            of_one = tf.constant(spec.shape.as_list(), tf.int32)
            return tf.zeros(tf.concat([rows, of_one], 0), spec.dtype)

        return tf.nest.map_structure(zeros, self._shown)

    @property
    def _shown(self) -> Any:
        return (self._output, self._state) if self.return_state else self._output

    def compute_output_spec(self, forest: Any, inputs: Any = None, **_: Any) -> Any:
        """Returns what a functional model sees of the outputs."""
        if isinstance(forest, dict):
            forest = forest["roots"]
        if forest.dtype != "int32":
            raise ValueError(
                f"A model with {self.name} begins with ForestInput(), or else it takes "
                f"a tensor of {forest.dtype} in place of forests."
            )
        shape = tuple(forest.shape)
        rows = (None,) if self.return_nodes else shape
        return tf.nest.map_structure(
            lambda s: keras.KerasTensor((*rows, *s.shape), s.dtype.name), self._shown
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        options = None if self.options is None else self.options.config()
        config: dict[str, Any] = super().get_config()
        return config | {
            "cell": keras.saving.serialize_keras_object(self.cell),
            "embedding": keras.saving.serialize_keras_object(self.embedding),
            "executor": self.executor,
            "return_nodes": self.return_nodes,
            "return_state": self.return_state,
            "go_down": self.go_down,
            "dag": self.dag,
            "options": options,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> TreeEncoder:
        """Returns the layer that these arguments make."""
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("cell", "embedding")
        }
        return cls(**(config | parts))

    def _input(self, inputs_shape: Any) -> tf.TensorSpec:
        """Returns the spec of what a node takes."""
        if inputs_shape is not None:
            return tf.TensorSpec(inputs_shape[1:], self.compute_dtype)
        if self.embedding is None:
            return tf.TensorSpec([], tf.int32)
        shape = self.embedding.compute_output_shape(())
        return tf.TensorSpec(shape, self.embedding.compute_dtype)


def ForestInput(name: str | None = None) -> keras.KerasTensor:  # noqa: N802
    """Returns what stands for a batch of trees in a functional model.

    >>> import recursive_tf as rtf
    >>> words = keras.layers.Embedding(10, 4)
    >>> encoder = TreeEncoder(rtf.layers.TreeLSTMCell(8), words)
    >>> trees = ForestInput()
    >>> model = keras.Model(trees, keras.layers.Dense(2)(encoder(trees)))
    >>> model(rtf.data.from_nested([[1, 2], [3, [4, 5]]])).shape
    TensorShape([2, 2])
    """
    return keras.Input((), dtype="int32", name=name)


def _as_forest(forest: Any) -> Forest:
    if isinstance(forest, Forest):
        return forest
    if isinstance(forest, dict):
        return Forest(**forest)
    raise TypeError(
        "A TreeEncoder is called with a recursive_tf.data.Forest, or a dict of its "
        f"arrays. Got {forest!r}. If this is model.export(...) of Keras, which hands "
        "it tensors: call recursive_tf.layers.export(model, path, like=forest)."
    )
