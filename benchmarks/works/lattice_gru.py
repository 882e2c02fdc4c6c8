"""A GRU in the form of the LatticeLSTM, over characters and words.

ED-Batch (Chen et al. ICML 2023) has it as a workload, and no equations. With s the
logistic function, x the embedding of a node's character or word, h' of the position
before, or of that where a word begins, and weights of words or of positions:

    first     h = 0
    both      r, z = split(s([x; h'] kernel + bias), 2)
              g = tanh([x; r h'] candidate_kernel + candidate_bias)
    word      h = (1 - z) h' + z g
    position  h = mixed(z, g)

A position mixes with the h_k of the words that end there, as `links.py` says of m.
The outputs are the h of last positions.
"""

import numpy as np

from benchmarks.works.lattices import Lattices
from benchmarks.works.links import embeddings, links
from benchmarks.works.outputs import Outputs
from benchmarks.works.work import random_weights

RECURSION = Outputs("lattice_gru", Lattices)


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them."""
    shapes = {
        "kernel": (2 * units, 2 * units),
        "bias": (2 * units,),
        "candidate_kernel": (2 * units, units),
        "candidate_bias": (units,),
    }
    nodes = ("position", "word")
    of_nodes = {f"{node}_{name}": shapes[name] for node in nodes for name in shapes}
    return random_weights({**embeddings(units), **of_nodes, **links(units)})
