"""A run of a model with Keras's own loss and metrics, alone or as a task of a cluster.

Usage: python -m tests.training.run_program FOLDER STRATEGY [EPOCH STEP]

It ends itself at a step of an epoch, as if it was killed.
"""

import os
import signal
import sys

import keras
import tensorflow as tf

import recursive_tf as rtf

WORDS = 9
CHOSEN = {"epochs": 3, "batch_size": 10, "checkpoint_every": 2, "verbose": 0}


class AtStep(keras.callbacks.Callback):
    """Does something after a step."""

    def __init__(self, epoch, step):
        super().__init__()
        self._at = (epoch, step)

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self._epoch, batch + 1) == self._at:
            self.act()


class Kill(AtStep):
    """Ends the process."""

    def act(self):
        os.kill(os.getpid(), signal.SIGKILL)


def of_roots(forest):
    return forest, tf.gather(forest.labels, forest.roots)


def make_trees(count):
    trees = rtf.data.generate("random", count, vocabulary=WORDS, seed=0)
    return trees.replace(labels=tf.cast(trees.tokens > WORDS // 2, tf.int32))


def make_batches(count, batch_size):
    return rtf.data.batches(make_trees(count), batch_size).map(of_roots)


def make_model():
    trees = rtf.layers.ForestInput()
    embedding = keras.layers.Embedding(WORDS, 4)
    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(4), embedding)
    model = keras.Model(trees, keras.layers.Dense(2)(encoder(trees)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.02), loss, metrics=["accuracy"])
    return model


def main(folder, strategy, *kill_at):
    with rtf.training.Run(folder) as run:
        here = rtf.distribute.make_distribution(strategy, 2)
        trees = make_trees(60)
        keras.utils.set_random_seed(0)
        with here.strategy.scope():
            model = make_model()
        run.fit(
            model,
            trees[:40],
            trees[40:],
            prepare=of_roots,
            distribution=here,
            callbacks=[Kill(*map(int, kill_at))] if kill_at else [],
            **CHOSEN,
        )
        rtf.distribute.leave_cluster()


if __name__ == "__main__":
    main(*sys.argv[1:])
