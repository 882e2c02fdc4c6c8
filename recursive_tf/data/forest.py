"""A batch of trees as flat arrays, which TensorFlow takes for one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from recursive_tf.data import conversion, in_memory, rows
from recursive_tf.data.batch_encoder import BatchEncoder
from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest_spec import ForestSpec
from recursive_tf.data.indexing import trees_at
from recursive_tf.data.pictures import notebook, svg, terminal
from recursive_tf.data.text import summary
from recursive_tf.data.tree import trees_of
from recursive_tf.data.validation import validate
from recursive_tf.data.writing import nested_of


class Forest(tf.experimental.BatchableExtensionType):
    """A tree, or a batch of trees, as arrays with a row for each node.

    The nodes of all trees stand one after the other. A node is the number of its row.
    So `tf.gather(forest.left, node)` is the left child of a node of any tree, and
    `rtf.SubGraph.map(forest.roots)` runs all trees.

    A forest has the shape of its `roots`: `[]` is one tree, and `[num_trees]` is a
    batch of them. As with a tensor, `forest[3]` is a tree, `forest[2:5]` and
    `forest[[7, 1]]` are batches, and `tf.data` batches and unbatches.

    Thread safety: a forest does not change.

    Invariants, which `validate` checks:
        (1) The nodes of a tree stand together, and trees in the order of `roots`.
        (2) The children of a node are nodes of its tree.
        (3) Every node is the root of its tree, or is below it.
        (4) No node is below itself. Except in a DAG, no node is the child of two.
    The nodes of a tree may stand in any order.

    Attributes:
        roots: int32, `[]` or `[num_trees]`: the root of each tree.
        sizes: int32 of the same shape: how many nodes each tree has.
        tokens: `[num_nodes]`: the word of each node, as an integer or a string.
        labels: `[num_nodes, ...]`: what is to be learned of each node, or None.
        features: By name, what else is known of each node: `[num_nodes, ...]`.
    """

    __name__ = "recursive_tf.data.Forest"
    __batch_encoder__ = BatchEncoder()
    Spec = ForestSpec

    roots: tf.Tensor
    sizes: tf.Tensor
    tokens: tf.Tensor
    labels: Optional[tf.Tensor]  # noqa: UP045 (evaluated by TensorFlow)
    features: Mapping[str, tf.Tensor]
    _left: Optional[tf.Tensor]  # noqa: UP045
    _right: Optional[tf.Tensor]  # noqa: UP045
    _children: Optional[tf.RaggedTensor]  # noqa: UP045

    def __init__(  # noqa: PLR0913 (one for each array)
        self,
        *,
        tokens: Any,
        left: Any = None,
        right: Any = None,
        children: Any = None,
        roots: Any,
        sizes: Any = None,
        labels: Any = None,
        features: Mapping[str, Any] | None = None,
    ) -> None:
        """Makes a forest of arrays: NumPy's, TensorFlow's, or lists.

        >>> tree = Forest(tokens=["a", "b", ""], left=[-1, -1, 0], right=[-1, -1, 1],
        ...               roots=2)
        >>> int(tree.num_nodes)
        3

        Values are not looked at: see `validate`.

        Args:
            tokens: `[num_nodes]`, of any dtype. Where a node has no word, `""` or -1.
            left: int32[num_nodes]: the left child of each node, -1 if it has none.
            right: As `left`. A forest has both, or it has `children`.
            children: A RaggedTensor, int32[num_nodes, (number of children)].
            roots: int32, `[]` for a tree, `[num_trees]` for a batch.
            sizes: As `roots`: how many nodes each tree has. A tree needs none.
            labels: `[num_nodes, ...]`, of any dtype.
            features: By name, each `[num_nodes, ...]`, of any dtype.

        Raises:
            ForestError: If arrays are missing, or do not fit together.
        """
        self.roots = conversion.nodes(roots, "roots")
        self.tokens = tf.convert_to_tensor(tokens)
        if sizes is None and self.roots.shape.rank == 0:
            sizes = tf.size(self.tokens)
        self.sizes = conversion.nodes(sizes, "sizes")
        self._left = None if left is None else conversion.nodes(left, "left")
        self._right = None if right is None else conversion.nodes(right, "right")
        self._children = None if children is None else conversion.lists(children)
        self.labels = None if labels is None else tf.convert_to_tensor(labels)
        self.features = {
            name: tf.convert_to_tensor(feature)
            for name, feature in (features or {}).items()
        }

    def __validate__(self) -> None:
        """Checks what is known without a look at values."""
        conversion.check_links(self._left, self._right, self._children)
        conversion.check_batch(self.roots, self.sizes)
        conversion.check_rows(rows.arrays_of(self))

    @property
    def shape(self) -> tf.TensorShape:
        """`[]` for a tree, `[num_trees]` for a batch, if that is known."""
        return self.roots.shape

    @property
    def dtype(self) -> tf.DType:
        """int32: with `shape`, what Keras asks of all that a layer is called with."""
        return self.roots.dtype

    @property
    def device(self) -> str:
        """Where its arrays are, which replicas of `tf.distribute` ask for."""
        device: str = self.roots.device
        return device

    @property
    def is_tensor_like(self) -> bool:
        """True, so that `tf.is_tensor` is, without which Keras takes no forest."""
        return True

    @property
    def num_nodes(self) -> tf.Tensor:
        """The number of nodes of all trees together, an int32 scalar."""
        return tf.shape(self.tokens)[0]

    @property
    def num_trees(self) -> tf.Tensor:
        """The number of trees, an int32 scalar; 1 for one tree."""
        return tf.size(self.roots)

    @property
    def row_splits(self) -> tf.Tensor:
        """Where trees begin and end, int64[num_trees + 1], as in a RaggedTensor."""
        ends = tf.cumsum(tf.reshape(self.sizes, [-1]))
        return tf.cast(tf.concat([[0], ends], 0), tf.int64)

    @property
    def is_binary(self) -> bool:
        """Whether the forest has `left` and `right`; else it has `children`."""
        return self._children is None

    @property
    def left(self) -> tf.Tensor:
        """The left child of each node, int32[num_nodes]; -1 where there is none.

        Raises:
            ForestError: If nodes have any number of children.
        """
        return self._binary("left", self._left)

    @property
    def right(self) -> tf.Tensor:
        """The right child of each node; as `left`."""
        return self._binary("right", self._right)

    @property
    def children(self) -> tf.RaggedTensor:
        """The children of each node, a ragged int32[num_nodes, (children)].

        Raises:
            ForestError: If nodes have a left and a right child.
        """
        if self._children is None:
            raise ForestError(
                "The nodes of this forest have a left and a right child. Use "
                "forest.left and forest.right, or forest.with_children() outside of "
                "the SubGraph."
            )
        return self._children

    @property
    def is_leaf(self) -> tf.Tensor:
        """Whether each node has no child, bool[num_nodes]. Use it outside of bodies."""
        if self.is_binary:
            return tf.logical_and(self.left < 0, self.right < 0)
        return tf.equal(self.children.row_lengths(), 0)

    def with_children(self) -> Forest:
        """Returns the same forest with `children` instead of `left` and `right`."""
        if not self.is_binary:
            return self
        pairs = tf.stack([self.left, self.right], axis=1)
        children = tf.ragged.boolean_mask(pairs, pairs != rows.NO_CHILD)
        return self.replace(left=None, right=None, children=children)

    def with_left_right(self) -> Forest:
        """Returns the same forest with `left` and `right` instead of `children`.

        Raises:
            ForestError: If a node has more than two children, or one, of which nobody
                can say whether it is the left one. In a `tf.function`, an
                `InvalidArgumentError`.
        """
        if self.is_binary:
            return self
        counts = self.children.row_lengths()
        fits = tf.reduce_all(tf.logical_or(counts == 0, counts == 2))  # noqa: PLR2004
        message = "Every node must have no child or two to have left and right ones."
        if tf.executing_eagerly() and not fits:
            raise ForestError(message)
        with tf.control_dependencies([tf.debugging.Assert(fits, [message])]):
            pairs = self.children.to_tensor(rows.NO_CHILD, shape=[None, 2])
        return self.replace(left=pairs[:, 0], right=pairs[:, 1], children=None)

    def validate(self, dag: bool = False) -> Forest:
        """Returns the forest if its arrays are trees.

        Readers and builders give valid forests. It costs some NumPy passes, and one
        for each level of the deepest tree.

        Args:
            dag: Whether a node may be the child of several.

        Raises:
            ForestError: If a tree is empty, a root or a child is out of range or in
                another tree, a node has two parents, cannot be reached from its root,
                or is below itself; with the numbers of the tree and of the node. Also
                if the forest has no values, in a `tf.function`.
        """
        validate(self, dag)
        return self

    def to_nested(self) -> Any:
        """Returns the tree as nested lists, or a list of those of a batch.

        >>> tree = Forest(tokens=["a", "b", ""], left=[-1, -1, 0], right=[-1, -1, 1],
        ...               roots=2)
        >>> tree.to_nested()
        ['a', 'b']

        See `from_nested` for the form. A node that several share is one object.
        """
        nested = [nested_of(tree) for tree in trees_of(self)]
        return nested if self.shape.rank else nested[0]

    def replace(self, **changes: Any) -> Forest:
        """Returns a forest with some arrays changed.

        >>> tree = Forest(tokens=[7], left=[-1], right=[-1], roots=0)
        >>> tree.replace(labels=[1]).labels.numpy()
        array([1], dtype=int32)

        Args:
            **changes: Arguments of `Forest`.
        """
        arguments = {
            "roots": self.roots,
            "sizes": self.sizes,
            "tokens": self.tokens,
            "labels": self.labels,
            "features": self.features,
            "left": self._left,
            "right": self._right,
            "children": self._children,
        }
        return Forest(**(arguments | changes))

    def __getitem__(self, index: Any) -> Forest:
        """Returns a tree, for one number, or a batch, for a slice or several.

        >>> from recursive_tf.data import concat
        >>> forest = concat([Forest(tokens=[i], left=[-1], right=[-1], roots=0)
        ...                  for i in range(4)])
        >>> forest[-1].tokens.numpy(), forest[1:3].tokens.numpy()
        (array([3], dtype=int32), array([1, 2], dtype=int32))
        >>> forest[[3, 0]].tokens.numpy()
        array([3, 0], dtype=int32)

        Args:
            index: As of a Python list: a number, also a scalar tensor, or a slice. Or
                a list, array or tensor of numbers, in any order and also repeated, or
                of a bool for each tree. A few ops, in a `tf.function` too.

        Raises:
            ForestError: If this is one tree.
            IndexError: If there is no such tree; in a `tf.function`, an
                `InvalidArgumentError`.
        """
        if self.shape.rank == 0:
            raise ForestError("This is one tree, and not a batch to take trees from.")
        trees = trees_at(index, tf.size(self.roots))
        if trees.shape.rank and in_memory.is_in_memory(self):
            arrays = in_memory.arrays_of_trees(self, np.asarray(trees))
            return Forest(**rows.as_arguments(arrays))
        if trees.shape.rank:
            return Forest(**rows.as_arguments(rows.arrays_of_trees(self, trees)))
        return Forest(**rows.as_arguments(rows.arrays_of_tree(self, trees)))

    def __len__(self) -> int:
        """The number of trees of a batch that has values."""
        if self.shape.rank == 0:
            raise TypeError("One tree has no length; see forest.num_nodes.")
        if not tf.executing_eagerly():
            raise TypeError(
                "In a tf.function the number of trees is a tensor: forest.num_trees."
            )
        return int(tf.size(self.roots))

    def __iter__(self) -> Iterator[Forest]:
        """Yields the trees of a batch that has values."""
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        """True: a forest is something, also if it is empty."""
        return True

    def show(
        self,
        predictions: Any = None,
        *,
        max_trees: int = 3,
        max_nodes: int = 200,
        console: Any = None,
    ) -> None:
        """Prints trees in the terminal, colored by label, or by prediction.

        Args:
            predictions: One a node of the forest, of the type of its labels, e.g.
                `tf.argmax(logits, -1)`. Where they are wrong, labels stand beside them.
            max_trees: The most trees that are shown.
            max_nodes: The most nodes of each.
            console: A `rich.console.Console`, if not the terminal's.

        Raises:
            ForestError: If there is not a prediction for each node.
            ImportError: If rich is not installed.
        """
        terminal.show(self, predictions, max_trees, max_nodes, console)

    def to_svg(self, predictions: Any = None) -> str:
        """Returns a picture of a tree, colored as `show` does.

        Args:
            predictions: As of `show`.

        Raises:
            ForestError: If this is a batch, or there is not a prediction for each node.
        """
        if self.shape.rank:
            raise ForestError("A picture is of one tree, e.g. forest[0].to_svg().")
        return svg.to_svg(self, predictions)

    def _repr_svg_(self) -> str | None:
        """What a notebook shows of a tree."""
        return notebook.picture_of(self)

    def _repr_html_(self) -> str | None:
        """What a notebook shows of a batch."""
        return notebook.page_of(self)

    def __repr__(self) -> str:
        """Says what there is, and shows the first trees if they have values."""
        return summary(self)

    def _binary(self, side: str, link: tf.Tensor | None) -> tf.Tensor:
        if link is None:
            raise ForestError(
                f"The nodes of this forest have any number of children, and no {side} "
                "one. Use forest.children, or forest.with_left_right() outside of the "
                "SubGraph."
            )
        return link
