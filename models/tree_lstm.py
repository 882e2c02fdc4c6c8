"""The binary TreeLSTM, which labels every node of a tree.

    python -m models.tree_lstm                 # on expressions that it generates
    python -m models.tree_lstm --data=sst      # on sst/train.txt and sst/dev.txt
    python -m models.tree_lstm --mode=predict --checkpoint_dir=... "a lovely film"

Tai, Socher, Manning. Improved Semantic Representations From Tree-Structured Long
Short-Term Memory Networks. ACL 2015; their constituency TreeLSTM, and its settings.
docs/models.md has what it reaches.
"""

import dataclasses
from typing import Any

import recursive_tf as rtf
from models.running import script
from models.sentiment.settings import SentimentSettings
from models.sentiment.task import Sentiment

TREEBANK = SentimentSettings(
    epochs=10,
    batch_size=25,
    learning_rate=0.05,
    hidden=150,
    embedding=300,
    embedding_rate=0.05,
    embedding_range=0.05,
    l2=1e-4,
    dropout=0.5,
    word_dropout=0.0,
    recurrent_dropout=0.0,
)
GENERATED = dataclasses.replace(
    TREEBANK,
    epochs=8,
    learning_rate=0.2,
    hidden=32,
    embedding=32,
    embedding_rate=0.2,
    l2=0.0,
    dropout=0.0,
)


def make_cell(settings: SentimentSettings) -> Any:
    """Returns what a node computes."""
    return rtf.layers.TreeLSTMCell(
        settings.hidden,
        dropout=settings.word_dropout,
        recurrent_dropout=settings.recurrent_dropout,
    )


TASK = Sentiment("tree_lstm", make_cell, GENERATED, TREEBANK)

if __name__ == "__main__":
    script.run(TASK)
