"""Trains a node classifier, shows progress, keeps the best epoch."""

import dataclasses
import pathlib
import time
from typing import NamedTuple

import tensorflow as tf
from tqdm import tqdm

import recursive_tf as rtf
from models.adagrad import Adagrad
from models.classifier import NodeClassifier
from models.dataset import Dataset
from models.scores import NO_SCORES, Scores, score, total
from recursive_tf.data import Forest

FOREST_SPEC = rtf.data.forest_spec(tf.int32, labels=tf.int32)


@dataclasses.dataclass(frozen=True)
class Settings:
    """How to train. `l2` is the weight decay of all variables but the embedding."""

    epochs: int
    batch_size: int
    learning_rate: float
    l2: float


class Epoch(NamedTuple):
    """One pass over the training trees, measured.

    Attributes:
        train: Scores while training, with dropout and changing weights.
        held_out: Scores of the held-out trees afterwards.
        seconds: Time of the training steps.
    """

    train: Scores
    held_out: Scores
    seconds: float


class Trainer:
    """The two steps, traced once each, and the state that a checkpoint keeps."""

    def __init__(self, model: NodeClassifier, settings: Settings) -> None:
        self._model = model
        self.settings = settings
        self._optimizer = Adagrad(model.trainable_variables, settings.learning_rate)
        self.checkpoint = tf.train.Checkpoint(model=model, optimizer=self._optimizer)

    @tf.function(input_signature=[FOREST_SPEC])
    def train_step(self, forest: Forest) -> Scores:
        """Takes one optimizer step on the mean loss per tree (Tai et al., 2015)."""
        with tf.GradientTape() as tape:
            scores = score(forest, self._model(forest, training=True))
            objective = scores.loss_per_tree + self._penalty()
        variables = self._model.trainable_variables
        self._optimizer.apply(tape.gradient(objective, variables))
        return scores

    @tf.function(input_signature=[FOREST_SPEC])
    def held_out_step(self, forest: Forest) -> Scores:
        """Scores one batch, without dropout."""
        return score(forest, self._model(forest, training=False))

    def evaluate(self, trees: Forest) -> Scores:
        """Scores any number of trees."""
        batches = rtf.data.batches(trees, self.settings.batch_size)
        return total([NO_SCORES, *map(self.held_out_step, batches)])

    def _penalty(self) -> tf.Tensor:
        weights = [
            variable
            for variable in self._model.trainable_variables
            if variable is not self._model.cell.embedding
        ]
        return self.settings.l2 * tf.add_n([tf.nn.l2_loss(v) for v in weights])


class Fit(NamedTuple):
    """A finished training run.

    Attributes:
        epochs: What each epoch measured.
        checkpoint: The path of the best epoch's checkpoint.
    """

    epochs: list[Epoch]
    checkpoint: str

    @property
    def seconds(self) -> float:
        """Time of all training steps; not of tracing and evaluation."""
        return sum(epoch.seconds for epoch in self.epochs)

    @property
    def trees_per_s(self) -> float:
        """Trees that went through training steps, by the time of these."""
        return sum(epoch.train.trees for epoch in self.epochs) / self.seconds

    @property
    def accuracy(self) -> float:
        """The held-out root accuracy of the epoch in the checkpoint."""
        return max(epoch.held_out.root_accuracy for epoch in self.epochs)


def fit(
    trainer: Trainer,
    data: Dataset,
    seed: int,
    folder: pathlib.Path,
) -> Fit:
    """Trains for all epochs; saves each that is the best so far at held-out roots.

    The seed is that of the order of the trees.
    """
    batch_size = trainer.settings.batch_size
    batches = rtf.data.batches(data.train, batch_size, shuffle=True, seed=seed)
    manager = tf.train.CheckpointManager(trainer.checkpoint, folder, max_to_keep=1)
    epochs: list[Epoch] = []
    best = -1.0
    trainer.train_step.get_concrete_function()  # Traced here, out of the clock.
    num_epochs = trainer.settings.epochs
    with tqdm(total=num_epochs * len(data.train), unit=" trees") as bar:
        for number in range(1, num_epochs + 1):
            epoch = _run_epoch(trainer, batches, data.held_out, bar)
            epochs.append(epoch)
            better = epoch.held_out.root_accuracy > best
            if better:
                best = epoch.held_out.root_accuracy
                manager.save(number)
            bar.write(_describe(number, epoch) + (", saved" if better else ""))
    return Fit(epochs, manager.latest_checkpoint)


def _run_epoch(
    trainer: Trainer,
    batches: tf.data.Dataset,
    held_out: Forest,
    bar: tqdm,
) -> Epoch:
    start = time.perf_counter()
    scores = NO_SCORES
    for forest in batches:
        scores = total([scores, trainer.train_step(forest)])
        bar.set_postfix_str(
            f"loss {scores.loss_per_tree:.3f}, nodes {scores.node_accuracy:.1%}, "
            f"roots {scores.root_accuracy:.1%}",
            refresh=False,
        )
        bar.update(len(forest))
    seconds = time.perf_counter() - start
    return Epoch(scores, trainer.evaluate(held_out), seconds)


def _describe(number: int, epoch: Epoch) -> str:
    held_out = epoch.held_out
    return (
        f"epoch {number}: loss {epoch.train.loss_per_tree:.3f}; held out: "
        f"loss {held_out.loss_per_tree:.3f}, nodes {held_out.node_accuracy:.1%}, "
        f"roots {held_out.root_accuracy:.1%}; "
        f"{epoch.train.trees / epoch.seconds:.0f} trees/s"
    )
