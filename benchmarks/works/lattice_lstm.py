"""The LatticeLSTM over characters and words.

Zhang, Yang. Chinese NER Using Lattice LSTM. ACL 2018. With s the logistic function, x
the embedding of a node's character or word, and h' and c' of the position before, or of
that where a word begins:

    first     h, c = 0
    word      i, f, g = split([x; h'] word_kernel + word_bias, 3)
              c = s(f) c' + s(i) tanh(g)
    position  i, o, g = split([x; h'] position_kernel + position_bias, 3)
              c = mixed(s(i), tanh(g)),  h = s(o) tanh(c)

A position mixes with the c_k of the words that end there, as `links.py` says of m.
The outputs are the h of last positions.
"""

import numpy as np

from benchmarks.works.lattices import Lattices
from benchmarks.works.links import embeddings, links
from benchmarks.works.outputs import Outputs
from benchmarks.works.work import random_weights

RECURSION = Outputs("lattice_lstm", Lattices)


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them."""
    return random_weights(
        {
            **embeddings(units),
            "position_kernel": (2 * units, 3 * units),
            "position_bias": (3 * units,),
            "word_kernel": (2 * units, 3 * units),
            "word_bias": (3 * units,),
            **links(units),
        }
    )
