"""The binary TreeLSTM with words at the leaves, and five classes at every node.

Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured Long
Short-Term Memory Networks. ACL 2015. With s the logistic function, x the embedding of
a leaf's word, and [h_l; h_r] of the children:

    leaf      i, o, u          = split(x leaf_kernel + leaf_bias, 3)
              c = s(i) tanh(u)
    inside    i, f_l, f_r, o, u = split([h_l; h_r] kernel + bias, 5)
              c = s(i) tanh(u) + s(f_l) c_l + s(f_r) c_r
    both      h = s(o) tanh(c),  logits = h logits_kernel + logits_bias

Neither dropout nor weight decay, so that all systems compute the same.
"""

import numpy as np

from benchmarks.works.work import CLASSES, Kind, Recursion, random_weights

EMBEDDING, HIDDEN = 300, 150

RECURSION = Recursion(
    "treelstm",
    EMBEDDING,
    HIDDEN,
    leaf=Kind((EMBEDDING, 3 * HIDDEN), 2 * HIDDEN, 4 * HIDDEN),
    internal=Kind((2 * HIDDEN, 5 * HIDDEN), 2 * HIDDEN, 6 * HIDDEN),
    loss_at="nodes",
)


def weights(vocabulary: int) -> dict[str, np.ndarray]:
    """Returns what training begins with."""
    return random_weights(
        {
            "embedding": (vocabulary, EMBEDDING),
            "leaf_kernel": (EMBEDDING, 3 * HIDDEN),
            "leaf_bias": (3 * HIDDEN,),
            "kernel": (2 * HIDDEN, 5 * HIDDEN),
            "bias": (5 * HIDDEN,),
            "logits_kernel": (HIDDEN, CLASSES),
            "logits_bias": (CLASSES,),
        }
    )
