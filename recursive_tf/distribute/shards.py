"""Batches of trees, of which each replica gets a share."""

import functools
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from recursive_tf.data import Forest, ForestError
from recursive_tf.data.batches import CHOICE, Choice, read_ahead
from recursive_tf.data.rows import nodes_of_trees
from recursive_tf.distribute import balance
from recursive_tf.distribute.replica_dataset import ReplicaDataset

Balance = Literal["nodes", "trees"]
SHARING: dict[str, Callable[[np.ndarray, int], list[np.ndarray]]] = {
    "nodes": balance.by_nodes,
    "trees": balance.in_order,
}
_UNKNOWN = [
    "What stands beside a forest has a row for each of its trees, or for each of its "
    "nodes. The rows that are there, the trees and the nodes:"
]


def shards(
    dataset: tf.data.Dataset,
    strategy: tf.distribute.Strategy | None = None,
    balance_by: Balance = "nodes",
) -> tf.distribute.DistributedDataset:
    """Returns a distributed dataset, which gives each replica a share of each batch.

    A synchronous step waits for the replica that has the most work. TensorFlow's own
    `experimental_distribute_dataset` cuts a batch in its order. Here, the shards of a
    batch have about the same number of nodes, and numbers of trees that differ by one
    at most. Every replica gets a shard in each step. If there are more replicas than
    trees, some shards are empty.

    >>> from recursive_tf import data
    >>> trees = data.generate("random", 10)
    >>> [len(batch) for batch in shards(data.batches(trees, 4))]  # Of one replica.
    [4, 4, 2]

    The dataset must be the same for every worker, so shuffle it with a seed. A worker
    reads the whole dataset. If `rtf.data.batches` made it, a worker reads only the
    trees of its own shards.

    Args:
        dataset: Of batches for all replicas together: a `Forest`, or a tuple that
            begins with one and goes on with tensors that have a row a tree, e.g.
            labels of trees, or a row a node, e.g. labels of nodes.
        strategy: Of `tf.distribute`; the current one if None.
        balance_by: `"nodes"`, or `"trees"` for shards in the order of the batch.

    Raises:
        ForestError: If `balance_by` is something else, the dataset is not of batches of
            trees, or the strategy has no replicas that wait for each other.
    """
    if balance_by not in SHARING:
        raise ForestError(
            f"Shards cannot be balanced by {balance_by!r}. Expected one of "
            f"{[*SHARING]}."
        )
    parts = dataset.element_spec
    first = parts[0] if isinstance(parts, tuple) else parts
    if not isinstance(first, Forest.Spec) or first.shape.rank != 1:
        raise ForestError(
            "shards takes a dataset of batches of trees, alone or first in a tuple. "
            f"Got {parts}."
        )
    strategy = strategy or tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.experimental.ParameterServerStrategy):
        raise ForestError(
            "Workers of a ParameterServerStrategy do not share batches. Hand each "
            "batch to one of them: coordinator.schedule(step, args=(forest,)), as in "
            "docs/distributed.md."
        )

    local = None

    def of_worker(context: tf.distribute.InputContext) -> tf.data.Dataset:
        nonlocal local
        local = _of_worker(dataset, context, balance_by)
        return local

    # It says which worker this is. Where there is no strategy, it returns what it got.
    if strategy.distribute_datasets_from_function(of_worker) is local:
        return local
    is_shared = strategy.num_replicas_in_sync > 1
    return ReplicaDataset(local, is_shared, int(dataset.cardinality()))


def _of_worker(
    dataset: tf.data.Dataset, context: tf.distribute.InputContext, balance_by: Balance
) -> tf.data.Dataset:
    """Returns tuples of the shards of a worker's replicas; of one replica, all."""
    num_shards = context.num_replicas_in_sync
    if num_shards == 1:
        return dataset
    here = num_shards // context.num_input_pipelines
    first = context.input_pipeline_id * here
    source: Choice | None = getattr(dataset, CHOICE, None)

    def plan(sizes: np.ndarray) -> list[np.ndarray]:
        of_all = SHARING[balance_by](sizes, num_shards)
        return [trees.astype(np.int32) for trees in of_all[first : first + here]]

    def share(sizes: tf.Tensor, rows: Callable[[tf.Tensor], Any]) -> tuple[Any, ...]:
        chosen = tf.numpy_function(plan, [sizes], [tf.int32] * here)
        return tuple(rows(tf.ensure_shape(trees, [None])) for trees in chosen)

    def of_batch(*parts: Any) -> tuple[Any, ...]:
        return share(parts[0].sizes, functools.partial(_rows, parts))

    if source is None:
        return read_ahead(dataset, of_batch)
    # So this worker reads its own trees alone.
    forest, sizes_of = source.forest, source.forest.sizes

    def of_choice(trees: tf.Tensor) -> tuple[Forest, ...]:
        def rows(some: tf.Tensor) -> Forest:
            return forest[tf.gather(trees, some)]

        return share(tf.gather(sizes_of, trees), rows)

    return read_ahead(source.chosen, of_choice)


def _rows(parts: tuple[Any, ...], trees: tf.Tensor) -> Any:
    """Returns some trees of a batch, and the rows of what else is there of them."""
    forest, *others = parts
    if not others:
        return forest[trees]
    nodes = nodes_of_trees(forest, trees)

    def of_part(part: Any) -> Any:
        """Returns the rows of the trees, or of their nodes, where each node has one."""
        count = tf.cast(tf.shape(part)[0], tf.int32)
        is_of_trees = tf.equal(count, forest.num_trees)
        is_known = tf.logical_or(is_of_trees, tf.equal(count, forest.num_nodes))
        message = [*_UNKNOWN, count, forest.num_trees, forest.num_nodes]
        with tf.control_dependencies([tf.debugging.Assert(is_known, message)]):
            chosen = tf.cond(is_of_trees, lambda: trees, lambda: nodes)
        return tf.gather(part, chosen)

    return (forest[trees], *tf.nest.map_structure(of_part, tuple(others)))
