"""The recursive neural tensor network, which labels every node of a tree.

    python -m models.rntn                  # on expressions that it generates
    python -m models.rntn --data=sst       # on sst/train.txt and sst/dev.txt
    python -m models.rntn --mode=predict --checkpoint_dir=... "a lovely film"

Socher, Perelygin, Wu, Chuang, Manning, Ng, Potts. Recursive Deep Models for Semantic
Compositionality Over a Sentiment Treebank. EMNLP 2013.
docs/models.md has what it reaches.
"""

import dataclasses
from typing import Any

import recursive_tf as rtf
from models.running import script
from models.sentiment.settings import SentimentSettings
from models.sentiment.task import Sentiment

TREEBANK = SentimentSettings(
    epochs=20,
    batch_size=25,
    learning_rate=0.01,
    hidden=35,
    embedding=35,
    embedding_rate=0.05,
    embedding_range=0.05,
    l2=1e-4,
    dropout=0.5,
    word_dropout=0.4,
    recurrent_dropout=0.0,
)
GENERATED = dataclasses.replace(
    TREEBANK,
    epochs=8,
    learning_rate=0.1,
    embedding_rate=0.1,
    l2=0.0,
    dropout=0.0,
    word_dropout=0.0,
)


def make_cell(settings: SentimentSettings) -> Any:
    """Returns what a node computes."""
    return rtf.layers.RNTNCell(
        settings.hidden,
        dropout=settings.word_dropout,
        recurrent_dropout=settings.recurrent_dropout,
    )


TASK = Sentiment("rntn", make_cell, GENERATED, TREEBANK)

if __name__ == "__main__":
    script.run(TASK)
