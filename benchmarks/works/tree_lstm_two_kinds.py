"""The TreeLSTM of binary trees whose inner nodes are of two kinds.

Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured Long
Short-Term Memory Networks. ACL 2015. A node is of the first kind if its label is even,
of the second if it is odd. With s the logistic function, x the embedding of a leaf's
word, [h_l; h_r] of the children, and weights of the node's kind, inside alone:

    leaf      i, o, u          = split(x first_leaf_kernel + first_leaf_bias, 3)
              c = s(i) tanh(u)
    inside    i, f_l, f_r, o, u = split([h_l; h_r] kernel + bias, 5)
              c = s(i) tanh(u) + s(f_l) c_l + s(f_r) c_r
    both      h = s(o) tanh(c)

A leaf is of the first kind whatever its label: nothing depends on the weights of leaves
of the second, which are there because each kind is a whole TreeLSTM. The outputs are
the h of roots.
"""

import numpy as np

from benchmarks.works.outputs import Outputs
from benchmarks.works.texts import VOCABULARY
from benchmarks.works.trees import Trees
from benchmarks.works.work import random_weights

RECURSION = Outputs("tree_lstm_two_kinds", Trees)
# Of a node whose label is even, and of one whose label is odd.
KINDS = ("first", "second")


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them."""
    shapes = {
        "leaf_kernel": (units, 3 * units),
        "leaf_bias": (3 * units,),
        "kernel": (2 * units, 5 * units),
        "bias": (5 * units,),
    }
    of_kinds = {f"{kind}_{name}": shapes[name] for kind in KINDS for name in shapes}
    return random_weights({"embedding": (VOCABULARY, units), **of_kinds})
