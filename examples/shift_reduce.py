"""Shift-reduce parsing that follows the model's own scores.

The parser's stack is the stack of calls: an invocation holds the tree on top, and knows
the tree below it. To shift is to call, to reduce is to return the tree to the caller,
who joins it to its own. Which of both is done depends on vectors that were computed for
the trees so far: nobody knows the structure of a sentence before it is parsed. Many
sentences are parsed at once.

    python -m examples.shift_reduce
"""

from typing import NamedTuple

import tensorflow as tf

import recursive_tf as rtf


class Model(NamedTuple):
    """Weights: what a tree of two trees is, and how well two trees belong together."""

    join: tf.Tensor  # float32[2 * size, size]
    affinity: tf.Tensor  # float32[size, size]

    def joined(self, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
        """Returns the vector of a tree from those of its children."""
        both = tf.concat([left, right], 0)
        return tf.tanh(tf.linalg.matvec(self.join, both, transpose_a=True))

    def affinity_of(self, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
        """Returns how well a tree goes with the one that follows it."""
        return tf.tensordot(left, tf.linalg.matvec(self.affinity, right), 1)


def define(model: Model, sentences: tf.Tensor) -> rtf.SubGraphFunction:
    """Returns what parses the rest of a sentence of `[sentences, words, size]`."""
    num_sentences, num_words, size = sentences.shape

    @rtf.subgraph
    def tree_from(
        sentence: tf.int32, start: tf.int32, below: tf.TensorSpec([size])
    ) -> (tf.TensorSpec([size]), tf.int32):
        """Returns the tree that starts at a word, once it is reduced, and its end."""
        tree, end = sentences[sentence, start], start + 1
        while end < num_words and (
            start == 0
            or model.affinity_of(tree, sentences[sentence, end])
            > model.affinity_of(below, tree)
        ):
            right, end = tree_from(sentence, end, tree)
            tree = model.joined(tree, right)
        index = sentence * num_words + start
        tree_from.push("end", end, index=index, size=num_sentences * num_words)
        return tree, end

    return tree_from


def parse(model: Model, sentences: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the vectors of sentences, and where the tree that starts at a word ends.

    Each but the first word of a sentence starts one right child, `[start, end)`: this
    is all that there is to know about a binary tree.
    """
    num_sentences, num_words, size = sentences.shape
    starts = tf.zeros(num_sentences, tf.int32), tf.zeros([num_sentences, size])
    (vectors, _), pushed = define(model, sentences).map(
        tf.range(num_sentences), *starts, with_pushed=True
    )
    return vectors, tf.reshape(pushed["end"], [num_sentences, num_words])


def brackets(ends: list[int], start: int = 0) -> str:
    """Returns a tree as a text.

    >>> brackets([4, 2, 4, 4])
    '((0 1) (2 3))'
    """
    text, end = str(start), start + 1
    while end < ends[start]:
        text, end = f"({text} {brackets(ends, end)})", ends[end]
    return text


def random_model(seed: int, size: int = 8) -> Model:
    """Returns a model that learned nothing."""
    normal = tf.random.Generator.from_seed(seed).normal
    return Model(normal([2 * size, size]) / size**0.5, normal([size, size]))


def main() -> None:
    """Parses random sentences as a random model thinks fit."""
    sentences = tf.random.Generator.from_seed(5).normal([5, 6, 8])
    _, ends = parse(random_model(seed=6), sentences)
    for sentence in ends.numpy().tolist():
        print(brackets(sentence))


if __name__ == "__main__":
    main()
