"""Training that begins in the midst of an epoch, which Keras's `fit` cannot."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.training.position import Position

Datasets = Callable[[int], Any]


def fit_from(  # noqa: PLR0913 (what fit takes, and where it begins)
    position: Position,
    fit: Callable[..., Any],
    batches: Datasets,
    model: keras.Model,
    *,
    steps: int,
    validation_data: tf.data.Dataset,
    epochs: int,
    callbacks: Sequence[keras.callbacks.Callback],
    verbose: int = 0,
) -> None:
    """Trains from a position on, as one call of `fit` does from the beginning.

    The rest of an epoch is a call of its own, of a dataset that has no more than that.

    Args:
        position: How far training is.
        fit: As `keras.Model.fit`.
        batches: Returns those of an epoch without so many at its beginning.
        model: Which is trained.
        steps: How many an epoch has.
        validation_data: As of `fit`.
        epochs: As of `fit`.
        callbacks: As of `fit`. They see one training, and the numbers of its batches.
            Their `params` have what Keras gives them, and the `position`.
        verbose: 1 shows Keras's progress bar, 2 a line an epoch, and 0 nothing.
    """
    about = {"epochs": epochs, "steps": steps, "verbose": verbose, "position": position}
    called = _OfParts(callbacks, model, about)
    first = position.epochs
    parts = [(0, first, epochs)]
    if position.steps and first < epochs:
        parts = [(position.steps, first, first + 1), (0, first + 1, epochs)]
    for number, (skipped, begin, end) in enumerate(parts):
        called.skipped = skipped
        called.is_first, called.is_last = number == 0, number == len(parts) - 1
        with _put_off(model.optimizer):
            fit(
                batches(skipped),
                validation_data=validation_data,
                initial_epoch=begin,
                epochs=end,
                shuffle=False,
                verbose=0,
                callbacks=called,
            )
        if model.stop_training and not called.is_last:
            called.is_last = True
            called.on_train_end()
            return


@contextlib.contextmanager
def _put_off(optimizer: keras.Optimizer) -> Iterator[None]:
    """Where `fit` leaves the weights as the last step made them.

    At the end of each call, Keras puts averages of the weights into them (`use_ema`).
    """
    optimizer.finalize_variable_values = lambda _: None
    try:
        yield
    finally:
        del optimizer.finalize_variable_values


class _OfParts(keras.callbacks.CallbackList):
    """Callbacks to which several calls of `fit` are one.

    Attributes:
        skipped: How many batches of the epoch the present call leaves out.
        is_first: Whether it is the first one.
        is_last: Whether it is the last one.
    """

    def __init__(
        self,
        callbacks: Sequence[keras.callbacks.Callback],
        model: keras.Model,
        about: dict[str, Any],
    ) -> None:
        super().__init__(
            [*callbacks],
            add_history=True,
            add_progbar=about["verbose"] != 0,
            model=model,
            **about,
        )
        self._trained = model
        self.skipped = 0
        self.is_first = self.is_last = True

    def on_train_begin(self, logs: Any = None) -> None:
        if self.is_first:
            super().on_train_begin(logs)

    def on_train_end(self, logs: Any = None) -> None:
        if not self.is_last:
            return
        optimizer = self._trained.optimizer
        if optimizer.use_ema:  # By the class's method: the object's is put off.
            finalize = type(optimizer).finalize_variable_values
            finalize(optimizer, self._trained.trainable_weights)
        super().on_train_end(logs)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        super().on_train_batch_begin(self.skipped + batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        super().on_train_batch_end(self.skipped + batch, logs)
