"""CPU seconds of the first step of Keras's `fit`, each in a new process.

    python -m benchmarks.first_step --repeats 5

A first step traces, compiles and runs a training step. The rows are a TreeLSTM of the
Stanford Sentiment Treebank's size, in both executors, with the first step of a second
model that is equal to it; and a layer of Keras's own with as many words. What that one
takes is Keras's and TensorFlow's own tracing: a TreeLSTM can hardly take less.

All threads are counted. Prints the medians, with the least and the most.
"""

import argparse
import functools
import statistics
import sys
import time
from collections.abc import Sequence

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.fresh import in_fresh_process
from benchmarks.treelstm_model import CLASSES, TREEBANK, Size, random_trees

WORDS, TREES = 19, 25


def tree_lstm(executor: str, size: Size) -> keras.Model:
    """Returns a TreeLSTM that labels every node."""
    forest = rtf.layers.ForestInput()
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(size.hidden),
        keras.layers.Embedding(size.vocabulary, size.embedding),
        return_nodes=True,
        executor=executor,
    )
    return keras.Model(forest, keras.layers.Dense(CLASSES)(encoder(forest)))


def lstm(size: Size) -> keras.Model:
    """Returns Keras's LSTM, with a label for every word."""
    words = keras.layers.Input([WORDS], dtype="int32")
    x = keras.layers.Embedding(size.vocabulary, size.embedding)(words)
    x = keras.layers.LSTM(size.hidden, return_sequences=True)(x)
    return keras.Model(words, keras.layers.Dense(CLASSES)(x))


def forest_data(size: Size) -> tf.data.Dataset:
    """Returns one batch of trees, with labels of nodes."""
    trees = random_trees(TREES, WORDS, size)
    batches = rtf.data.batches(trees, TREES)
    return batches.map(lambda forest: (forest.replace(labels=None), forest.labels))


def word_data(size: Size) -> tf.data.Dataset:
    """Returns one batch of sentences, with labels of words."""
    words = tf.random.uniform([TREES, WORDS], maxval=size.vocabulary, dtype=tf.int32)
    labels = tf.zeros([TREES, WORDS], tf.int32)
    return tf.data.Dataset.from_tensors((words, labels))


def seconds_of_first_steps(name: str, size: Size) -> list[float]:
    """Returns what the first step of a model takes, and that of a second one."""
    make, data = {
        "TreeLSTM": (functools.partial(tree_lstm, "auto"), forest_data),
        "TreeLSTM, dataflow": (functools.partial(tree_lstm, "dataflow"), forest_data),
        "Keras's LSTM": (lstm, word_data),
    }[name]
    batch = data(size).cache()
    list(batch)  # What an input pipeline takes is no part of a step.
    return [_seconds_of_fit(make(size), batch) for _ in range(2)]


def _seconds_of_fit(model: keras.Model, data: tf.data.Dataset) -> float:
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(rtf.optimizers.LazyAdam(0.002), loss)
    start = time.process_time()
    model.fit(data, verbose=0, shuffle=False)
    return time.process_time() - start


def main(arguments: Sequence[str], size: Size = TREEBANK) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="the first step of fit")
    parser.add_argument("--repeats", type=int, default=5, help="processes of each row")
    chosen = parser.parse_args(arguments)
    names = ("TreeLSTM", "TreeLSTM, dataflow", "Keras's LSTM")
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    for _ in range(chosen.repeats):
        for name in names:
            steps = in_fresh_process(seconds_of_first_steps, name, size)
            found[name].append(steps)
    print("| program | CPU s of a first step | of a second, equal model |")
    print("|---|---|---|")
    for name, runs in found.items():
        first, second = (_spread(of_step) for of_step in zip(*runs, strict=True))
        print(f"| {name} | {first} | {second} |", flush=True)


def _spread(seconds: Sequence[float]) -> str:
    median = statistics.median(seconds)
    return f"{median:.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    main(sys.argv[1:])
