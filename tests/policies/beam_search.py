"""Few launches for a launch graph, found by looking ahead: an oracle for policies.

It shares nothing with the library, sees the whole graph, and takes far longer than a
run.
"""

import numpy as np


class Graph:
    """A run to be worked off.

    Attributes:
        heights: For each node and block, how many nodes of the block are on a path from
            the node to the end, itself included, at most: int [nodes, blocks].
    """

    def __init__(self, num_blocks, blocks, num_waits, waits):
        self.blocks = blocks
        self.num_waits = num_waits
        after = np.repeat(np.arange(len(blocks)), num_waits)
        order = np.argsort(waits, kind="stable")
        self._followers = np.split(
            after[order],
            np.searchsorted(waits[order], np.arange(1, len(blocks))),
        )
        self.heights = np.zeros([len(blocks), num_blocks], int)
        for node in reversed(range(len(blocks))):
            followers = self._followers[node]
            if followers.size:
                self.heights[node] = self.heights[followers].max(axis=0)
            self.heights[node, blocks[node]] += 1

    def launch(self, waits, ready, block):
        """Returns for how many each node waits then, and which wait for none."""
        of_block = self.blocks[ready] == block
        touched = np.concatenate([self._followers[node] for node in ready[of_block]])
        waits = waits.copy()
        np.subtract.at(waits, touched, 1)
        freed = np.unique(touched)
        return waits, np.concatenate([ready[~of_block], freed[waits[freed] == 0]])


def graphs_of(recorded):
    """Yields the runs of `LaunchGraphs`."""
    ends = np.cumsum(recorded.num_nodes)[:-1]
    num_waits = np.split(recorded.num_waits, ends)
    ends_of_waits = np.cumsum([counts.sum() for counts in num_waits])[:-1]
    parts = zip(
        np.split(recorded.blocks, ends),
        num_waits,
        np.split(recorded.waits, ends_of_waits),
        strict=True,
    )
    for part in parts:
        yield Graph(len(recorded.ranks), *part)


def fewest_found(graph, width=64):
    """Returns how many launches the best of the orders takes that were looked at.

    After each launch the `width` frontiers are kept from which the least launches may
    be left: for each block, the most of its nodes that are on one path.
    """
    beam = [(graph.num_waits, np.flatnonzero(graph.num_waits == 0))]
    launches = 0
    while beam[0][1].size:
        reached = {}
        for waits, ready in beam:
            for block in np.unique(graph.blocks[ready]):
                after = graph.launch(waits, ready, block)
                reached.setdefault(np.sort(after[1]).tobytes(), after)
        beam = sorted(reached.values(), key=lambda state: _least(graph, state[1]))
        beam = beam[:width]
        launches += 1
    return launches


def _least(graph, ready):
    return graph.heights[ready].max(axis=0, initial=0).sum()
