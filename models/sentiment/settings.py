"""The settings of models that label nodes."""

import dataclasses

from models.running.settings import Settings, setting

LABELS = ("all", "binary")
METRICS = ("root_fine", "root_binary", "nodes")
SHAPES = ("balanced", "moderate", "linear", "random")
UNITS = ("review", "sentence")
PROGRAMS = ("recursive", "iterative")


@dataclasses.dataclass(frozen=True, kw_only=True)
class SentimentSettings(Settings):
    """What can be chosen besides what all models have."""

    embedding: int = setting(int, "Length of a word's vector.", minimum=1)
    embedding_rate: float = setting(
        float, "Learning rate of words' vectors; 0 keeps them.", minimum=0
    )
    embedding_range: float = setting(
        float, "Words' vectors start uniform, from minus this to this.", minimum=0
    )
    l2: float = setting(float, "Weight decay of all but words' vectors.", minimum=0)
    dropout: float = setting(
        float, "Share of h that is hidden from the classifier.", minimum=0, maximum=1
    )
    word_dropout: float = setting(
        float, "Share of a word's vector that is hidden.", minimum=0, maximum=1
    )
    recurrent_dropout: float = setting(
        float, "Share of a child's h that is hidden.", minimum=0, maximum=1
    )
    unknown_words: float = setting(
        float,
        "Share of the words seen once that an epoch takes for unknown words, so that "
        "these have a vector that is trained.",
        minimum=0,
        maximum=1,
        default=0.1,
    )
    labels: str = setting(
        str,
        "all: as they are. binary: negative and positive; nodes that are neutral are "
        "left out, in training too. Reviews are always binary.",
        choices=LABELS,
        default="all",
    )
    best_by: str = setting(
        str,
        "What decides, on the development split, which epoch's model is kept; with two "
        "labels, root_fine is root_binary.",
        choices=METRICS,
        default="root_fine",
    )
    program: str = setting(
        str, "How a cell is run over a tree.", choices=PROGRAMS, default="recursive"
    )
    vectors: str | None = setting(
        str, "File of words' vectors, as GloVe has them.", default=None
    )
    shape: str = setting(
        str, "Of the trees of reviews.", choices=SHAPES, default="balanced"
    )
    unit: str = setting(
        str, "What is a tree, of reviews.", choices=UNITS, default="review"
    )
    labeler: str | None = setting(
        str,
        "Folder of a run whose model labels all nodes of reviews; without it only "
        "their roots have labels.",
        default=None,
    )
