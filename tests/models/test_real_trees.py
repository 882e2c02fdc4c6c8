"""The Stanford Sentiment Treebank, where it is at hand; it is not shipped."""

import dataclasses
import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from models import tree_lstm
from models.sentiment.trees import read_trees
from tests.models.steps import loss_and_gradients

DATA = pathlib.Path(os.environ.get("RECURSIVE_TF_DATA", "../shared/data")) / "sst"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(),
    reason=f"no treebank in {DATA}; set RECURSIVE_TF_DATA to the folder that has sst/",
)
SETTINGS = dataclasses.replace(
    tree_lstm.TREEBANK, data=str(DATA), hidden=8, embedding=12, dropout=0.0
)


@pytest.fixture(scope="module")
def dev() -> rtf.data.Forest:
    return read_trees(SETTINGS, "dev")


def test_the_splits_have_their_published_sizes(dev):
    train = read_trees(SETTINGS, "train")
    assert (len(train), len(dev)) == (8544, 1101)
    assert set(np.unique(train.labels)) == set(range(5))


def test_every_node_but_the_leaves_has_two_children(dev):
    leaves = np.count_nonzero(dev.is_leaf)
    assert int(dev.num_nodes) == 2 * leaves - len(dev)


def test_recursive_and_iterative_programs_agree_on_real_trees(dev):
    words = rtf.data.vocabulary(dev)
    forest = rtf.data.encode(dev, tokens=words)[:25]

    def of_program(program):
        tf.keras.utils.set_random_seed(0)
        settings = dataclasses.replace(SETTINGS, program=program)
        return loss_and_gradients(tree_lstm.TASK.build(settings, forest, words), forest)

    loss, ours = of_program("recursive")
    expected_loss, expected = of_program("iterative")
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
    for gradient, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-4, atol=1e-6)
