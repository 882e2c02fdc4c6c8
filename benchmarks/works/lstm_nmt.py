"""An LSTM encoder and decoder, as long as the decoder likes.

Sutskever, Vinyals, Le. Sequence to Sequence Learning with Neural Networks. NeurIPS
2014. The decoder begins with the last h and c of the encoder (`sequences.py`) and the
word END. At each step:

    scores = h scores_kernel + scores_bias

The word of the highest score is the next step's, until that is END, or LONGEST words
are there. So computed values decide how long a translation is. The output is the last
h; scores have no gradients.
"""

import numpy as np

from benchmarks.works.outputs import Outputs
from benchmarks.works.sequences import lstm
from benchmarks.works.texts import VOCABULARY, Texts
from benchmarks.works.work import random_weights

RECURSION = Outputs("lstm_nmt", Texts)
# A few words, so that the end comes also if nothing was learned.
TARGET_WORDS, END, LONGEST = 24, 0, 40


def weights(units: int) -> dict[str, np.ndarray]:
    """Returns weights, in the order in which a Keras layer has them."""
    return random_weights(
        {
            "embedding": (VOCABULARY, units),
            **lstm("encoder", units, units),
            "target_embedding": (TARGET_WORDS, units),
            **lstm("decoder", units, units),
            "scores_kernel": (units, TARGET_WORDS),
            "scores_bias": (TARGET_WORDS,),
        }
    )
