"""Training trees that a run does not learn from, to choose by: `--hold_out`."""

import itertools
import zlib

import numpy as np

from models.running.settings import Settings
from models.running.task import Task
from recursive_tf.data import Forest
from recursive_tf.training import RunError

HELD_OUT = "held_out"


def read(task: Task, settings: Settings, split: str) -> Forest:
    """Returns the trees of a split, or "held_out"; "train" is what is learned from.

    Raises:
        RunError: If no tree is held out, or all are.
        rtf.data.ReadError: As `task.read`.
    """
    if split not in ("train", HELD_OUT):
        return task.read(settings, split)
    if split == HELD_OUT and not settings.hold_out:
        raise RunError(
            "--split=held_out: the run learned from all training trees. Train one with "
            "--hold_out=0.1."
        )
    learned, held_out = divided(task.read(settings, "train"), settings)
    return held_out if split == HELD_OUT else learned


def divided(train: Forest, settings: Settings) -> tuple[Forest, Forest]:
    """Returns the training trees to learn from, and those that are held out.

    Two trees of the same words are on the same side. What is held out does not depend
    on the seed, so runs with several seeds are measured on the same trees.

    Args:
        train: With words as strings.
        settings: Their `hold_out` is the share, about.

    Raises:
        RunError: If no tree is held out, or all are.
    """
    if not settings.hold_out:
        return train, train[:0]
    is_held = np.array([_place(t) < settings.hold_out for t in _texts(train)])
    if is_held.all() or not is_held.any():
        which = "all" if is_held.all() else "none"
        raise RunError(
            f"--hold_out={settings.hold_out}: {which} of {len(train)} training trees "
            "would be held out. Choose another share."
        )
    return train[~is_held], train[is_held]


def _texts(trees: Forest) -> list[bytes]:
    words, ends = trees.tokens.numpy(), trees.row_splits.numpy()
    pairs = itertools.pairwise(ends)
    return [b" ".join(filter(None, words[a:b])) for a, b in pairs]


def _place(text: bytes) -> float:
    """Returns a number of at least 0 and below 1."""
    return zlib.crc32(text) / 2**32
