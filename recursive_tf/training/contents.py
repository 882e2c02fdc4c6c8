"""Which variables a checkpoint has, so that those of another model are told."""

import itertools
import json
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.training.files import ANOTHER_RUN, RunError

NAME = "contents"
_KEY = f"{NAME}/.ATTRIBUTES/VARIABLE_VALUE"
# What Keras adds to the name of a second layer of a kind, in a process.
_NUMBER = re.compile(r"_\d+(?=[/_]|$)")


class Contents:
    """Names and shapes of the variables of a checkpoint, which it has in it.

    TensorFlow finds them by their places in a list. So what another model or another
    optimizer left may fit, and mean something else.

    Attributes:
        variable: What says all that, for the checkpoint.
    """

    def __init__(self, variables: Iterable[Any]) -> None:
        """Takes note of Keras's variables, in the order of the checkpoint."""
        self._ours = [[_name(v.path), list(v.shape)] for v in variables]
        self.variable = tf.Variable(json.dumps(self._ours), trainable=False)

    def check(self, path: pathlib.Path) -> None:
        """Checks that a checkpoint has the variables that are here.

        One of a version that did not say what it has is taken as it is.

        Raises:
            RunError: If it has others.
        """
        reader = tf.train.load_checkpoint(str(path))
        if not reader.has_tensor(_KEY):
            return
        theirs = json.loads(reader.get_tensor(_KEY))
        for saved, ours in itertools.zip_longest(theirs, self._ours):
            if saved != ours:
                raise RunError(
                    f"{path} does not fit the model: it has {_said(saved)}, where the "
                    f"model has {_said(ours)}. The model, its optimizer or the words "
                    "of the training trees are not those that the run began with. Put "
                    f"these back, or {ANOTHER_RUN}."
                )


def _name(path: str) -> str:
    """Returns a variable's name without what depends on what else a process made.

    >>> _name("adam/dense_1_kernel_momentum")
    'adam/dense_kernel_momentum'
    """
    return _NUMBER.sub("", path)


def _said(variable: Sequence[Any] | None) -> str:
    return "no variable" if variable is None else f"{variable[0]} {variable[1]}"
