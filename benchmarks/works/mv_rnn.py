"""The MV-RNN of binary trees with words at the leaves: a node is a vector and a matrix.

Socher, Huval, Manning, Ng. Semantic Compositionality through Recursive Matrix-Vector
Spaces. EMNLP 2012. A word has a row of d + d * d numbers: a vector x, and the columns
of a matrix X, one behind the other. With the children (a, A) and (b, B):

    leaf      p = x,  P = identity + X
    inside    p = tanh([B a; A b] vector_kernel + vector_bias)
              P = (columns of [A; B]) matrix_kernel, column by column

The outputs are the p of roots.
"""

import numpy as np

from benchmarks.works.outputs import Outputs
from benchmarks.works.texts import VOCABULARY
from benchmarks.works.trees import Trees
from benchmarks.works.work import random_weights

RECURSION = Outputs("mv_rnn", Trees)
# A word has the square of it in numbers, and a step that trains all words' matrices
# more than that: the paper's sizes are those of a GPU.
MOST_UNITS = 30


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them.

    Args:
        units: d, or more than that: it is `MOST_UNITS` at most.
    """
    units = min(units, MOST_UNITS)
    return random_weights(
        {
            "vector_kernel": (2 * units, units),
            "vector_bias": (units,),
            "matrix_kernel": (2 * units, units),
            "embedding": (VOCABULARY, units + units * units),
        }
    )
