"""Trains a binary TreeLSTM that labels every node of a tree.

    python -m models.tree_lstm                 # on expressions that it generates
    python -m models.tree_lstm --data=sst      # on sst/train.txt and sst/dev.txt

The last line of the output is `result: ` and a JSON object.
"""

import dataclasses
import functools
import json
import pathlib
import sys
import time

import tensorflow as tf
from absl import app, flags, logging

from models.cells import TreeLSTMCell
from models.classifier import Encoder, NodeClassifier
from models.curve import draw_curve
from models.dataset import Dataset, generate_dataset, read_dataset
from models.iterative import encode_iteratively
from models.recursive import encode
from models.training import Fit, Settings, Trainer, fit
from recursive_tf.data import ReadError

PROGRAMS = ("recursive", "iterative")

_DATA = flags.DEFINE_string(
    "data",
    None,
    "Folder with train.txt and dev.txt, one bracketed tree a line, as the Stanford "
    "Sentiment Treebank has them. Without it, trees are generated.",
)
_PROGRAM = flags.DEFINE_enum(
    "program", "recursive", PROGRAMS, "How a cell is run over a tree."
)
_EXECUTOR = flags.DEFINE_enum(
    "executor", "auto", ["auto", "batched", "dataflow"], "Of the recursive program."
)
_OUTPUT_DIR = flags.DEFINE_string(
    "output_dir", None, "Folder for the picture and the checkpoint. [runs/<time>]"
)
_SEED = flags.DEFINE_integer("seed", 0, "For the weights, the order and the trees.")
_LIMIT_TREES = flags.DEFINE_integer(
    "limit_trees", None, "Use only the first of the trees of each split.", lower_bound=1
)


@dataclasses.dataclass(frozen=True)
class TreeLSTMSettings(Settings):
    """What can be chosen on the command line, each by the flag of its name."""

    hidden: int
    embedding: int
    dropout: float


GENERATED = TreeLSTMSettings(
    epochs=8,
    batch_size=25,
    learning_rate=0.2,
    l2=0.0,
    hidden=32,
    embedding=32,
    dropout=0.0,
)
# Tai et al. (2015), but for AdaGrad on the embedding too.
TREEBANK = TreeLSTMSettings(
    epochs=10,
    batch_size=25,
    learning_rate=0.05,
    l2=1e-4,
    hidden=150,
    embedding=300,
    dropout=0.5,
)


SETTINGS_HELP = {
    "epochs": "Passes over the training trees.",
    "batch_size": "Trees per step.",
    "learning_rate": "Of AdaGrad.",
    "l2": "Weight decay of all variables but the embedding.",
    "hidden": "Length of a node's h and c.",
    "embedding": "Length of a word's vector.",
    "dropout": "Share of h that is hidden from the classifier in training.",
}


def _define_settings_flags() -> None:
    for field in dataclasses.fields(TreeLSTMSettings):
        defaults = (getattr(base, field.name) for base in (GENERATED, TREEBANK))
        text = SETTINGS_HELP[field.name] + " [{}; with --data: {}]".format(*defaults)
        if field.type is int:
            flags.DEFINE_integer(field.name, None, text, lower_bound=1)
        else:
            flags.DEFINE_float(field.name, None, text, lower_bound=0.0)


_define_settings_flags()


def choose_settings(base: TreeLSTMSettings) -> TreeLSTMSettings:
    """Returns `base` with the flags that were given."""
    names = [field.name for field in dataclasses.fields(base)]
    given = {name: flags.FLAGS[name].value for name in names}
    chosen = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(base, **chosen)


def build_model(
    data: Dataset, settings: TreeLSTMSettings, program: Encoder
) -> NodeClassifier:
    """Returns an untrained model for the words and classes of a dataset."""
    cell = TreeLSTMCell(
        data.vocabulary.vocabulary_size(), settings.embedding, settings.hidden
    )
    return NodeClassifier(cell, program, data.num_classes, settings.dropout)


def chosen_program() -> Encoder:
    """Returns the program that the flags ask for."""
    if _PROGRAM.value == "iterative":
        return encode_iteratively
    return functools.partial(encode, executor=_EXECUTOR.value)


def load_data() -> Dataset:
    """Returns the dataset that the flags ask for, or exits with a message."""
    if _DATA.value is None:
        return generate_dataset(_SEED.value, _LIMIT_TREES.value)
    try:
        return read_dataset(pathlib.Path(_DATA.value), _LIMIT_TREES.value)
    except ReadError as error:
        sys.exit(f"--data: {error}")


def report(run: Fit, majority: float, picture: pathlib.Path) -> None:
    """Prints the result line."""
    result = {
        "accuracy": round(run.accuracy, 4),
        "majority": round(majority, 4),
        "trees_per_s": round(run.trees_per_s, 1),
        "seconds": round(run.seconds, 1),
        "picture": str(picture),
        "checkpoint": run.checkpoint,
    }
    print("result:", json.dumps(result), flush=True)


def main(argv: list[str]) -> None:
    """Trains and reports."""
    if len(argv) > 1:
        raise app.UsageError(f"Unexpected arguments: {argv[1:]}")
    logging.set_verbosity(logging.WARNING)  # The screen is the progress bar's.
    data = load_data()
    tf.keras.utils.set_random_seed(_SEED.value)
    settings = choose_settings(TREEBANK if _DATA.value else GENERATED)
    folder = pathlib.Path(_OUTPUT_DIR.value or time.strftime("runs/%Y-%m-%d_%H-%M-%S"))
    checkpoint, picture = folder / "checkpoint", folder / "curve.png"
    checkpoint.mkdir(parents=True, exist_ok=True)
    words = "".join(f"{word}\n" for word in data.vocabulary.get_vocabulary())
    (checkpoint / "vocabulary.txt").write_text(words, encoding="utf-8")
    trainer = Trainer(build_model(data, settings, chosen_program()), settings)
    run = fit(trainer, data, _SEED.value, checkpoint)
    draw_curve(run.epochs, data.majority(), picture)
    report(run, data.majority(), picture)


if __name__ == "__main__":
    app.run(main)
