"""Losses that layers add in a body: they cannot leave it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.python.subgraphs.subgraph import is_in_body


@contextlib.contextmanager
def refused_losses(layer: Any) -> Iterator[None]:
    """Refuses what a layer, or one in it, adds to its losses in a body meanwhile.

    Keras keeps the tensor of such a loss for the end of the step, which is outside of
    the body. What regularizers say of weights is computed there, and is no such loss.

    Args:
        layer: A Keras layer, which is called meanwhile.

    Raises:
        ValueError: If there is a new loss, by `add_loss` or an activity_regularizer.
    """
    if not is_in_body():
        yield
        return
    before = [loss for _, loss in _losses_of(layer)]
    yield
    for owner, loss in _losses_of(layer):
        if tf.is_symbolic_tensor(loss) and all(loss is not other for other in before):
            raise ValueError(
                f"{owner.name} adds a loss in a recursion, by add_loss or "
                "activity_regularizer. A loss of a node's values cannot leave the "
                "recursion. Return the values, of a TreeEncoder with "
                "return_nodes=True, and add the loss outside, e.g. with "
                "keras.layers.ActivityRegularization. A loss of weights alone can be "
                "their regularizer."
            )


def _losses_of(layer: Any) -> list[tuple[Any, Any]]:
    """Returns what each layer was given as a loss, but not those of its weights."""
    return [
        (each, loss)
        for each in layer._flatten_layers()
        for loss in each._get_own_losses()
    ]
