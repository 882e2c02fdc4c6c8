"""The Stanford Sentiment Treebank, where it is at hand; it is not shipped."""

import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from models.cells import TreeLSTMCell
from models.dataset import Dataset, read_dataset
from models.iterative import encode_iteratively
from models.recursive import encode

DATA = pathlib.Path(os.environ.get("RECURSIVE_TF_DATA", "../shared/data")) / "sst"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"no treebank in {DATA}; set RECURSIVE_TF_DATA to the folder that has sst/",
)


@pytest.fixture(scope="module")
def treebank() -> Dataset:
    return read_dataset(DATA)


def test_the_splits_have_their_published_sizes(treebank):
    assert (len(treebank.train), len(treebank.held_out)) == (8544, 1101)
    assert treebank.num_classes == 5


def test_every_node_but_the_leaves_has_two_children(treebank):
    trees = treebank.held_out
    leaves = np.count_nonzero(trees.is_leaf)
    assert int(trees.num_nodes) == 2 * leaves - len(trees)


def test_recursive_and_iterative_programs_agree_on_real_trees(treebank):
    cell = TreeLSTMCell(
        treebank.vocabulary.vocabulary_size(), embedding_size=12, hidden=8
    )
    forest = treebank.held_out[:25]

    def gradients(encoder):
        @tf.function
        def run():
            with tf.GradientTape() as tape:
                _, h = encoder(forest, cell)
                loss = tf.reduce_sum(h * h)
            variables = cell.trainable_variables
            return loss, list(map(tf.convert_to_tensor, tape.gradient(loss, variables)))

        return run()

    loss, ours = gradients(encode)
    expected_loss, expected = gradients(encode_iteratively)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
    for gradient, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-4, atol=1e-6)
