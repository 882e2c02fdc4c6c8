"""A BiLSTM that tags words.

Huang, Xu, Yu. Bidirectional LSTM-CRF Models for Sequence Tagging. 2015; here without
the CRF. With the embeddings of words as steps of two LSTMs (`sequences.py`), one of
which begins at the end, and h_f and h_b of a word:

    tags = [h_f; h_b] tags_kernel + tags_bias
"""

import numpy as np

from benchmarks.works.outputs import Outputs
from benchmarks.works.sequences import both_lstms
from benchmarks.works.texts import VOCABULARY, Texts
from benchmarks.works.work import random_weights

RECURSION = Outputs("bilstm_tagger", Texts)
TAGS = 9


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them."""
    return random_weights(
        {
            "embedding": (VOCABULARY, units),
            **both_lstms(units, units),
            "tags_kernel": (2 * units, TAGS),
            "tags_bias": (TAGS,),
        }
    )
