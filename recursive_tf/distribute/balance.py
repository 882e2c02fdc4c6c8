"""How the trees of a batch are shared so that no replica has more work than others."""

import heapq

import numpy as np


def in_order(sizes: np.ndarray, num_shards: int) -> list[np.ndarray]:
    """Returns the numbers of the trees of each shard, in the order of the batch.

    Args:
        sizes: How many nodes each tree has.
        num_shards: How many shards there are.
    """
    return np.array_split(np.arange(len(sizes)), num_shards)


def by_nodes(sizes: np.ndarray, num_shards: int) -> list[np.ndarray]:
    """Returns shards with about the same number of nodes, as `in_order`.

    Shards have the same number of trees, but for one: as many as `in_order` gives them.
    So a mean of the shards' means is the mean.

    The largest tree goes first, each to the shard that has the fewest nodes of those
    with room (Graham. Bounds on Multiprocessing Timing Anomalies. SIAM J. Appl. Math.
    1969, longest processing time first; here with room).
    """
    room = [len(shard) for shard in in_order(sizes, num_shards)]
    shards: list[list[int]] = [[] for _ in room]
    lightest = [(0, shard) for shard in range(num_shards) if room[shard]]
    for tree in np.argsort(-sizes, kind="stable").tolist():
        nodes, shard = heapq.heappop(lightest)
        shards[shard].append(tree)
        if len(shards[shard]) < room[shard]:
            heapq.heappush(lightest, (nodes + int(sizes[tree]), shard))
    return [np.sort(np.array(shard, np.int64)) for shard in shards]
