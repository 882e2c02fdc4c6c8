"""The plain recursive network, with five classes at every node.

Socher, Lin, Ng, Manning. Parsing Natural Scenes and Natural Language with Recursive
Neural Networks. ICML 2011. With x the embedding of a leaf's word:

    leaf      h = x
    inside    h = tanh([h_l; h_r] kernel + bias)
    both      logits = h logits_kernel + logits_bias

It computes so little that what is measured is everything else.
"""

import numpy as np

from benchmarks.works.work import CLASSES, Kind, Recursion, random_weights

HIDDEN = 30

RECURSION = Recursion(
    "treernn",
    HIDDEN,
    HIDDEN,
    leaf=Kind(None, HIDDEN, 0),
    internal=Kind((2 * HIDDEN, HIDDEN), HIDDEN, 0),
    loss_at="nodes",
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
