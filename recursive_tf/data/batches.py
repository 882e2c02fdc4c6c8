"""Batches of the trees of a forest in memory."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest
from recursive_tf.data.measures import depths

Bucket = Literal["nodes", "depth"]
READ_AHEAD = 2  # Batches.
# The attribute of a dataset that says which trees its batches are of, for who needs
# some of them alone. What else is made of the dataset does not have it.
CHOICE = "recursive_tf_choice"
MEASURES: dict[str, Callable[[Forest], np.ndarray]] = {
    "nodes": lambda forest: forest.sizes.numpy(),
    "depth": depths,
}


class Choice(NamedTuple):
    """What batches are made of.

    Attributes:
        forest: The trees.
        chosen: A dataset of int32[...]: the numbers of the trees of each batch.
    """

    forest: Forest
    chosen: tf.data.Dataset


def batches(  # noqa: PLR0913 (one for each choice)
    forest: Forest,
    batch_size: int | None = None,
    *,
    max_nodes: int | None = None,
    bucket_by: Bucket | Sequence[float] | None = None,
    shuffle: bool = False,
    seed: int | tf.Variable | None = None,
    drop_remainder: bool = False,
    skip: int = 0,
) -> tf.data.Dataset:
    """Returns a dataset of batches of the trees of a forest.

    A batch costs a few ops, however many trees it has. The next batches are made while
    a batch is used. How many are made at once is fixed. In the parts of the dataset
    that follow, `tf.data.AUTOTUNE` means all cores.

    `tf.train.Checkpoint` cannot keep an iterator of the dataset, since orders are made
    in Python. A seed, and how many batches to skip, say where training goes on.

    >>> from recursive_tf.data import generate
    >>> trees = generate("random", 10)
    >>> [len(batch) for batch in batches(trees, 4)]
    [4, 4, 2]

    Args:
        forest: A batch that has values.
        batch_size: The number of trees of a batch. With `max_nodes`, the most trees.
        max_nodes: The most nodes of a batch.
        bucket_by: Makes batches of trees that are alike in this: `"nodes"`, `"depth"`,
            or a number for each tree. Batches are in increasing order unless shuffled.
        shuffle: Whether trees are in a random order, another one in each pass. With
            `bucket_by`, batches are shuffled, and not trees.
        seed: Of the order. If it is a number, two datasets with the same number have
            the same orders. If it is an integer variable, it is read when a pass
            begins, and passes with equal values have the same order. So training that
            was stopped can go on.
        drop_remainder: Whether to leave out a last batch that has fewer trees.
        skip: How many batches to leave out at the beginning of each pass. They are not
            read. So training that was stopped within a pass can go on there.

    Raises:
        ForestError: If neither or a wrong size is given, or a tree is larger than a
            batch may be.
    """
    cut = _Cut(forest, batch_size, max_nodes, drop_remainder)
    if skip < 0:
        raise ForestError(f"skip is a number of batches, at least 0. Got {skip}.")
    keys = _keys(forest, bucket_by)

    def plan(seed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed) if shuffle else None
        return _plan(cut, keys, rng)

    def planned(seed: tf.Tensor) -> tf.data.Dataset:
        order, ends = tf.numpy_function(plan, [seed], [tf.int32, tf.int32])
        order.set_shape([None])
        spans = tf.ensure_shape(tf.stack([ends[:-1], ends[1:]], axis=1), [None, 2])
        dataset = tf.data.Dataset.from_tensor_slices(spans)
        return dataset.map(lambda span: order[span[0] : span[1]])

    chosen = _seeds(seed).flat_map(planned).skip(skip)
    if max_nodes is None:
        left = max(0, cut.num_batches - skip)
        chosen = chosen.apply(tf.data.experimental.assert_cardinality(left))
    dataset = read_ahead(chosen, lambda trees: forest[trees])
    setattr(dataset, CHOICE, Choice(forest, chosen))
    return dataset


def read_ahead(dataset: tf.data.Dataset, read: Callable[..., Any]) -> tf.data.Dataset:
    """Returns what is made of each element; the next ones are, while one is used."""
    made = dataset.map(read, READ_AHEAD, deterministic=True)
    return untuned(made.prefetch(READ_AHEAD))


def untuned(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns a dataset that tf.data does not tune while it runs.

    What tunes it sleeps for longer and longer, and whoever is done with a pass waits
    until it wakes: seconds after each epoch.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def _seeds(seed: int | tf.Variable | None) -> tf.data.Dataset:
    """Returns a dataset of the one seed of a pass."""
    if isinstance(seed, tf.Variable):
        return tf.data.Dataset.range(1).map(lambda _: seed.read_value())
    return tf.data.Dataset.random(seed, rerandomize_each_iteration=True).take(1)


class _Cut:
    """Cuts trees in some order into batches."""

    def __init__(
        self,
        forest: Forest,
        batch_size: int | None,
        max_nodes: int | None,
        drop_remainder: bool,
    ) -> None:
        if forest.shape.rank != 1:
            raise ForestError("batches takes a batch of trees. Got one tree.")
        if batch_size is None and max_nodes is None:
            raise ForestError("Say how large batches are: batch_size or max_nodes.")
        if any(size is not None and size < 1 for size in (batch_size, max_nodes)):
            raise ForestError(
                f"A batch has at least one tree and one node. Got batch_size="
                f"{batch_size} and max_nodes={max_nodes}."
            )
        if drop_remainder and batch_size is None:
            raise ForestError("drop_remainder needs batch_size: what a whole batch is.")
        self._sizes = forest.sizes.numpy()
        self._batch_size = batch_size or len(self._sizes)
        self._max_nodes = max_nodes
        self._drop_remainder = drop_remainder
        for tree in np.flatnonzero(self._sizes > (max_nodes or np.inf)):
            raise ForestError(
                f"tree {tree} has {self._sizes[tree]} nodes, and a batch at most "
                f"{max_nodes}. Leave it out, or raise max_nodes."
            )

    @property
    def num_trees(self) -> int:
        return len(self._sizes)

    @property
    def num_batches(self) -> int:
        """How many there are if only the number of trees limits them."""
        whole, rest = divmod(self.num_trees, self._batch_size)
        return whole + (rest > 0 and not self._drop_remainder)

    def __call__(self, order: np.ndarray) -> list[np.ndarray]:
        """Returns the trees of each batch."""
        ends = self._ends(order)
        found = [part for part in np.split(order, ends) if len(part)]
        if self._drop_remainder and found and len(found[-1]) < self._batch_size:
            found.pop()
        return found

    def _ends(self, order: np.ndarray) -> list[int]:
        if self._max_nodes is None:
            return list(range(self._batch_size, len(order), self._batch_size))
        ends = []
        trees = nodes = 0
        for place, size in enumerate(self._sizes[order].tolist()):
            if trees == self._batch_size or nodes + size > self._max_nodes:
                ends.append(place)
                trees = nodes = 0
            trees += 1
            nodes += size
        return ends


def _keys(forest: Forest, bucket_by: Any) -> np.ndarray | None:
    if bucket_by is None:
        return None
    if isinstance(bucket_by, str):
        if bucket_by not in MEASURES:
            raise ForestError(
                f"Batches cannot be by {bucket_by!r}. Expected one of {[*MEASURES]}, "
                "or numbers, one a tree."
            )
        return MEASURES[bucket_by](forest)
    keys = np.asarray(bucket_by)
    if keys.shape != (len(forest),):
        raise ForestError(
            f"bucket_by needs a number for each of {len(forest)} trees. Got an array "
            f"of shape {list(keys.shape)}."
        )
    return keys


def _plan(
    cut: _Cut, keys: np.ndarray | None, rng: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the trees of all batches, and where batches begin and end."""
    order = np.arange(cut.num_trees) if rng is None else rng.permutation(cut.num_trees)
    if keys is not None:
        order = order[np.argsort(keys[order], kind="stable")]
    found = cut(order)
    if keys is not None and rng is not None:
        found = [found[i] for i in rng.permutation(len(found))]
    lengths = [len(batch) for batch in found]
    trees = np.concatenate([*found, np.zeros([0], np.int64)])
    return trees.astype(np.int32), np.cumsum([0, *lengths], dtype=np.int32)
