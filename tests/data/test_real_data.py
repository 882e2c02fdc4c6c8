"""Real treebanks and lattices, where they are at hand; they are not shipped."""

import os
import pathlib

import numpy as np
import pytest

from recursive_tf.data import read_lattices, read_sst

DATA = pathlib.Path(os.environ.get("RECURSIVE_TF_DATA", "../shared/data"))


def needs(name):
    return pytest.mark.skipif(
        not (DATA / name).is_dir(),
        reason=f"no {name}/ in {DATA}; set RECURSIVE_TF_DATA to the folder that has it",
    )


@pytest.mark.slow
@needs("sst")
def test_the_sentiment_treebank_has_its_published_size():
    train, dev = (
        read_sst(DATA / "sst" / f"{name}.txt").load() for name in ("train", "dev")
    )
    assert (len(train), len(dev)) == (8544, 1101)
    assert len(np.unique(train.tokens.numpy())) == 18_280 + 1  # And the empty one.
    assert (train.validate().is_binary, int(train.num_nodes)) == (True, 318_582)
    assert sorted(set(train.labels.numpy().tolist())) == [0, 1, 2, 3, 4]


@pytest.mark.slow
@needs("lattice")
def test_the_lattices_are_graphs_of_their_published_number():
    lattices = read_lattices([DATA / "lattice" / f"{n}.txt" for n in ("train", "dev")])
    forest = lattices.load()
    assert len(forest.validate(dag=True)) == 1147 + 113
