"""TensorFlow by hand, and its loop over nodes, compute what the recursive program does.

Beside losses and gradients: what optimizers make of them, which each applies itself.
"""

import functools

import numpy as np
import pytest

from benchmarks.peers import (
    ours,
    ours_several,
    tensorflow_by_hand,
    tensorflow_while_loop,
)
from benchmarks.peers.command import OPTIMIZERS
from benchmarks.peers.levels import Leveler
from benchmarks.peers.tensorflow_weights import Weights
from benchmarks.works import making, treefc, treelstm, treernn
from benchmarks.works.trees import Trees
from benchmarks.works.work import Kind, Work, random_weights

PEERS = (tensorflow_by_hand, tensorflow_while_loop)
WORKS = (treelstm, treernn, treefc)
SIZE, WORDS, BATCH = 4, 3, np.array([2, 0, 1, 2])
# Of one leaf, of a leaf beside two, and of two pairs, one of them of equal words.
TREES = Trees(
    left=np.array([-1, -1, -1, 0, -1, 2, -1, -1, -1, -1, 0, 2, 4], np.int32),
    right=np.array([-1, -1, -1, 1, -1, 3, -1, -1, -1, -1, 1, 3, 5], np.int32),
    word=np.array([1, 0, 2, 0, 1, 0, 1, 1, 0, 2, 0, 0, 0], np.int32),
    label=np.array([4, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 3, 1], np.int32),
    sizes=np.array([1, 5, 7], np.int32),
)
EVERY_WORK = pytest.mark.parametrize("module", WORKS, ids=lambda m: m.RECURSION.name)
EVERY_PEER = pytest.mark.parametrize("peer", PEERS, ids=lambda m: m.__name__[17:])


@functools.cache
def small(module) -> Work:
    """Returns a work with short rows."""
    large = module.RECURSION
    shorter = {treelstm: 2}.get(module, 1) * SIZE
    kinds = {
        name: Kind(None if kind.product is None else (1, 1), 1, 1)
        for name, kind in (("leaf", large.leaf), ("internal", large.internal))
    }
    recursion = large.__class__(
        **{**vars(large), "embedding": shorter, "hidden": SIZE, **kinds}
    )
    lengths = {large.embedding: shorter, large.hidden: SIZE}
    shapes = {
        name: tuple(_scaled(length, lengths, large.hidden) for length in value.shape)
        for name, value in module.weights(WORDS).items()
    }
    return Work(recursion, TREES, random_weights(shapes, seed=1))


def _scaled(length, lengths, hidden):
    """Returns a length with another embedding and another size of states."""
    if length in lengths:
        return lengths[length]
    return length // hidden * SIZE if length >= hidden else length


def weights_of(system):
    """Returns the variables of a system."""
    found = system._weights
    found = found.variables if isinstance(found, Weights) else found
    return {name: variable.numpy() for name, variable in found.items()}


@EVERY_WORK
@EVERY_PEER
def test_losses_and_gradients_are_those_of_the_recursive_program(peer, module):
    system = peer.system(small(module), "sgd")
    expected_loss, expected = ours.make(small(module), "sgd").gradients(BATCH)
    loss, norms = system.gradients(BATCH)
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    assert system.infer(BATCH) == pytest.approx(expected_loss, rel=1e-5)
    assert norms == pytest.approx(expected, rel=1e-5)


@EVERY_WORK
@EVERY_PEER
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_steps_make_the_weights_of_the_recursive_program(peer, module, optimizer):
    systems = [
        peer.system(small(module), optimizer),
        ours.make(small(module), optimizer),
    ]
    for trees in (BATCH, BATCH[1:], BATCH[:1]):
        losses = [system.train(trees) for system in systems]
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    found, expected = map(weights_of, systems)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-6)


@EVERY_PEER
def test_a_batch_of_leaves_has_no_levels(peer):
    system = peer.system(small(treelstm), "sgd")
    expected, _ = ours.make(small(treelstm), "sgd").gradients(np.array([0, 0]))
    assert system.train(np.array([0, 0])) == pytest.approx(expected, rel=1e-5)


def test_children_stand_before_their_parents_in_lower_levels():
    work = making.make("treelstm")
    batch = Leveler(work, share=True)(np.arange(50))
    numbers = len(batch.words) + np.arange(len(batch.children))
    begins = len(batch.words) + np.cumsum(batch.sizes) - batch.sizes
    assert np.all(batch.children < np.repeat(begins, batch.sizes)[:, None])
    assert batch.sizes.sum() == len(numbers)
    assert len(np.unique(batch.words)) == len(batch.words)
    assert batch.targets.sum() * 50 == pytest.approx(work.trees.sizes[:50].sum())


@EVERY_WORK
def test_several_steps_a_call_are_steps_one_after_the_other(module):
    one, other = (ours.make(small(module), "adagrad") for _ in range(2))
    several = ours_several.SeveralSteps(other)
    batches = [np.array(numbers) for numbers in ([0], [2, 1], [1], [0, 0, 2])] * 3
    assert len(batches) > ours_several.STEPS
    losses = [one.train(batch) for batch in batches]
    assert several.train_all(batches) == pytest.approx(losses[-1], rel=1e-5)
    found = weights_of(other)
    for name, value in weights_of(one).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)
    inferred = several.infer_all(batches[:2])
    assert inferred == pytest.approx(one.infer(batches[1]), rel=1e-5)
