"""Layers that make one vector of each tree, of the vectors of its nodes."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf
from keras.src.backend.common.symbolic_scope import in_symbolic_scope

from recursive_tf.data import Forest
from recursive_tf.data.rows import NO_CHILD

MODES = {
    "mean": tf.math.segment_mean,
    "max": tf.math.segment_max,
    "sum": tf.math.segment_sum,
}
CURE = "TreeEncoder(cell, return_nodes=True) returns vectors of all nodes."


class _OfTrees(keras.layers.Layer):
    """A layer that is called with a forest and a vector of each node."""

    def call(self, forest: Forest, nodes: tf.Tensor) -> Any:
        """Returns a vector of each tree.

        Args:
            forest: A tree or a batch of trees.
            nodes: A vector of each node, [num_nodes, size], e.g. what a `TreeEncoder`
                with `return_nodes=True` returns.

        Returns:
            [num_trees, size]; [size] of a tree.

        Raises:
            TypeError: If there is no forest.
            ValueError: If the vectors are not as many as the nodes.
        """
        if in_symbolic_scope() and isinstance(forest, tf.Tensor):
            # Keras builds a saved model of a class of its own, with placeholders.
            forest = _of_single_nodes(forest)
        if not isinstance(forest, Forest):
            raise TypeError(
                f"{self.name} is called with a recursive_tf.data.Forest, and then with "
                f"a vector of each of its nodes. Got {forest!r}. {CURE}"
            )
        return self.pooled(forest, self.checked(forest, nodes))

    def pooled(self, forest: Forest, nodes: tf.Tensor) -> Any:
        """Returns a vector of each tree, of vectors of all nodes."""
        raise NotImplementedError

    def checked(self, forest: Forest, nodes: tf.Tensor) -> tf.Tensor:
        """Returns vectors of nodes, which are as many as the forest's nodes.

        Raises:
            ValueError: If there are others, e.g. those of the roots.
            tf.errors.InvalidArgumentError: The same, where a function runs that was
                traced for any number.
        """
        expected, found = forest.tokens.shape[0], nodes.shape[0]
        if expected is not None and found is not None:
            if expected == found:
                return nodes
            raise ValueError(
                f"{self.name} takes a vector of each node, [num_nodes, size]: of "
                f"{expected} nodes, and got {found} rows. {CURE}"
            )
        are_as_many = tf.debugging.assert_equal(
            tf.shape(nodes)[0],
            forest.num_nodes,
            message=f"{self.name} takes a vector of each node, [num_nodes, size], and "
            f"got another number of rows. {CURE}",
        )
        with tf.control_dependencies([are_as_many]):
            return tf.identity(nodes)

    def of_trees(self, forest: Forest, rows: tf.Tensor) -> tf.Tensor:
        """Returns a row for each tree: of one tree, the row itself."""
        return rows if forest.shape.rank else rows[0]

    def compute_output_spec(self, forest: Any, nodes: Any) -> Any:
        """Returns what a functional model sees of the output."""
        shape = (*tuple(forest.shape), *nodes.shape[1:])
        return keras.KerasTensor(shape, self.compute_dtype)


@keras.saving.register_keras_serializable("recursive_tf")
class NodePooling(_OfTrees):
    """The mean, the maximum or the sum of all nodes of a tree, in each element.

    >>> import recursive_tf as rtf
    >>> trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    >>> nodes = tf.cast(tf.maximum(trees.tokens, 0), tf.float32)[:, tf.newaxis]
    >>> NodePooling("sum")(trees, nodes).numpy().tolist()
    [[6.0], [9.0]]
    """

    def __init__(self, mode: str = "mean", **kwargs: Any) -> None:
        """Makes the layer.

        Args:
            mode: "mean", "max" or "sum".
            **kwargs: Of every Keras layer: name, dtype, trainable.

        Raises:
            ValueError: If `mode` is another word.
        """
        super().__init__(**kwargs)
        if mode not in MODES:
            raise ValueError(f"mode={mode!r}: choose one of {sorted(MODES)}.")
        self.mode = mode

    def build(self, forest_shape: Any, nodes_shape: Any) -> None:
        """Does nothing: there are no variables."""

    def pooled(self, forest: Forest, nodes: tf.Tensor) -> tf.Tensor:
        """Returns a vector of each tree, of vectors of all nodes."""
        return self.of_trees(forest, MODES[self.mode](nodes, trees_of_nodes(forest)))

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        config: dict[str, Any] = super().get_config()
        return config | {"mode": self.mode}


@keras.saving.register_keras_serializable("recursive_tf")
class NodeAttention(_OfTrees):
    """The mean of all nodes of a tree, each as much as a learned score says.

    Yang, Yang, Dyer, He, Smola, Hovy. Hierarchical Attention Networks for Document
    Classification. NAACL 2016: equations 5 to 7, of nodes in place of words:

        (5)  u_k = tanh(W h_k + b)
        (6)  a_k = exp(u_k . c) / sum over the tree of exp(u_j . c)
        (7)  s = sum of a_k h_k
    """

    def __init__(
        self, units: int, *, return_attention_scores: bool = False, **kwargs: Any
    ) -> None:
        """Makes the layer.

        Args:
            units: The length of u and of c.
            return_attention_scores: Whether to return a pair: vectors of trees, and a
                of each node, [num_nodes].
            **kwargs: Of every Keras layer: name, dtype, trainable.

        Raises:
            ValueError: If `units` is not positive.
        """
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"units={units}: expected at least 1.")
        self.units = units
        self.return_attention_scores = return_attention_scores

    def build(self, forest_shape: Any, nodes_shape: Any) -> None:
        """Makes W, b and c, for vectors of this length."""
        self.kernel = self.add_weight(
            shape=(nodes_shape[-1], self.units), name="kernel"
        )
        self.bias = self.add_weight(
            shape=(self.units,), initializer="zeros", name="bias"
        )
        self.context = self.add_weight(shape=(self.units, 1), name="context")

    def pooled(self, forest: Forest, nodes: tf.Tensor) -> Any:
        """Returns a vector of each tree, of vectors of all nodes; maybe their scores.

        The vectors are [num_trees, size], and the scores [num_nodes].
        """
        trees = trees_of_nodes(forest)
        hidden = tf.tanh(tf.matmul(nodes, self.kernel) + self.bias)
        scores = tf.matmul(hidden, self.context)[:, 0]
        largest = tf.gather(tf.math.segment_max(scores, trees), trees)
        shares = tf.exp(scores - tf.stop_gradient(largest))
        shares /= tf.gather(tf.math.segment_sum(shares, trees), trees)
        of_trees = tf.math.segment_sum(shares[:, tf.newaxis] * nodes, trees)
        of_trees = self.of_trees(forest, of_trees)
        return (of_trees, shares) if self.return_attention_scores else of_trees

    def compute_output_spec(self, forest: Any, nodes: Any) -> Any:
        """Returns what a functional model sees of the output."""
        of_trees = super().compute_output_spec(forest, nodes)
        if not self.return_attention_scores:
            return of_trees
        return of_trees, keras.KerasTensor((None,), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        config: dict[str, Any] = super().get_config()
        return config | {
            "units": self.units,
            "return_attention_scores": self.return_attention_scores,
        }


def trees_of_nodes(forest: Forest) -> tf.Tensor:
    """Returns the number of the tree of each node, int32[num_nodes]."""
    sizes = tf.reshape(forest.sizes, [-1])
    return tf.repeat(tf.range(tf.size(sizes)), sizes)


def _of_single_nodes(placeholder: tf.Tensor) -> Forest:
    """Returns a forest with a tree of one node for each row of a placeholder."""
    nodes = tf.range(tf.size(placeholder))
    none = tf.fill([tf.size(placeholder)], NO_CHILD)
    sizes = tf.ones_like(nodes)
    return Forest(tokens=nodes, left=none, right=none, roots=nodes, sizes=sizes)
