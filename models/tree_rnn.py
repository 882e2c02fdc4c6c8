"""The plain recursive network, which labels every node of a tree.

    python -m models.tree_rnn                  # on expressions that it generates
    python -m models.tree_rnn --data=sst       # on sst/train.txt and sst/dev.txt
    python -m models.tree_rnn --mode=predict --checkpoint_dir=... "a lovely film"

Socher, Lin, Ng, Manning. Parsing Natural Scenes and Natural Language with Recursive
Neural Networks. ICML 2011; as in Socher et al. (EMNLP 2013), where it labels nodes.
docs/models.md has what it reaches.
"""

import dataclasses
from typing import Any

import recursive_tf as rtf
from models.running import script
from models.sentiment.settings import SentimentSettings
from models.sentiment.task import Sentiment

TREEBANK = SentimentSettings(
    epochs=15,
    batch_size=25,
    learning_rate=0.02,
    hidden=100,
    embedding=100,
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
    hidden=32,
    embedding=32,
    embedding_rate=0.1,
    l2=0.0,
    dropout=0.0,
    word_dropout=0.0,
)


def make_cell(settings: SentimentSettings) -> Any:
    """Returns what a node computes."""
    return rtf.layers.TreeRNNCell(
        settings.hidden,
        dropout=settings.word_dropout,
        recurrent_dropout=settings.recurrent_dropout,
    )


TASK = Sentiment("tree_rnn", make_cell, GENERATED, TREEBANK)

if __name__ == "__main__":
    script.run(TASK)
