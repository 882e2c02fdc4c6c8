"""A BiLSTM that tags words, which another one makes of characters.

Ling et al. Finding Function in Form: Compositional Character Models for Open Vocabulary
Word Representation. EMNLP 2015. Two LSTMs along the embeddings of a word's characters
end with h_f and h_b. The vectors [h_f; h_b] are steps of a tagger, as in
`bilstm_tagger.py`.
"""

import numpy as np

from benchmarks.works.bilstm_tagger import TAGS
from benchmarks.works.outputs import Outputs
from benchmarks.works.sequences import both_lstms
from benchmarks.works.texts import CHARACTERS, Texts
from benchmarks.works.work import random_weights

RECURSION = Outputs("bilstm_char_tagger", Texts)


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them."""
    return random_weights(
        {
            "embedding": (CHARACTERS, units),
            **both_lstms(units, units, "word_"),
            **both_lstms(2 * units, units),
            "tags_kernel": (2 * units, TAGS),
            "tags_bias": (TAGS,),
        }
    )
