"""The TreeGRU of binary trees with words at the leaves.

Zhou, Cong, Chen. Modeling Sentence Pairs with Tree-structured Attentive Encoder. COLING
2016. With s the logistic function, x the embedding of a leaf's word, and q = [h_l; h_r]
of the children:

    leaf      h = tanh(x leaf_kernel + leaf_bias)
    inside    r, z_l, z_r, z = split(q gate_kernel + gate_bias, [2, 1, 1, 1] units)
              z_l, z_r, z = softmax over these three, for each unit
              h = z_l h_l + z_r h_r + z tanh((s(r) q) candidate_kernel + candidate_bias)

The outputs are the h of roots.
"""

import numpy as np

from benchmarks.works.outputs import Outputs
from benchmarks.works.texts import VOCABULARY
from benchmarks.works.trees import Trees
from benchmarks.works.work import random_weights

RECURSION = Outputs("tree_gru", Trees)


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them."""
    return random_weights(
        {
            "leaf_kernel": (units, units),
            "leaf_bias": (units,),
            "gate_kernel": (2 * units, 5 * units),
            "gate_bias": (5 * units,),
            "candidate_kernel": (2 * units, units),
            "candidate_bias": (units,),
            "embedding": (VOCABULARY, units),
        }
    )
