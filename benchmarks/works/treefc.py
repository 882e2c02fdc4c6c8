"""Tree-FC: one fully connected layer over complete trees, a class at the root.

Looks, Herreshoff, Hutchins, Norvig. Deep Learning with Dynamic Computation Graphs. ICLR
2017, section 3.2; with 256 leaves and a hidden size of 512, as in Xu et al. (Cavs,
USENIX ATC 2018). With x the embedding of a leaf's word:

    leaf      h = x
    inside    h = relu([h_l; h_r] kernel + bias)
    root      logits = h logits_kernel + logits_bias

It is products and little else, and every level is full.
"""

import numpy as np

from benchmarks.works.work import CLASSES, Kind, Recursion, random_weights

LEAVES = 256
HIDDEN = 512

RECURSION = Recursion(
    "treefc",
    HIDDEN,
    HIDDEN,
    leaf=Kind(None, HIDDEN, 0),
    internal=Kind((2 * HIDDEN, HIDDEN), HIDDEN, 0),
    loss_at="roots",
    batch_sizes=(1, 16, 64),
)


def weights(vocabulary: int) -> dict[str, np.ndarray]:
    """Returns what training begins with."""
    return random_weights(
        {
            "embedding": (vocabulary, HIDDEN),
            "kernel": (2 * HIDDEN, HIDDEN),
            "bias": (HIDDEN,),
            "logits_kernel": (HIDDEN, CLASSES),
            "logits_bias": (CLASSES,),
        }
    )
