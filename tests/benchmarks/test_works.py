"""Works are the same for every system: trees, weights, and what is computed."""

import functools

import numpy as np
import pytest

import recursive_tf as rtf
from benchmarks.peers.ours import RecursiveTF
from benchmarks.works import making, mv_rnn
from benchmarks.works import work as works
from benchmarks.yardstick.bounds import Needs, bounds, needs_of
from tests.helpers import equations
from tests.helpers.differences import central_differences

each_work = pytest.mark.parametrize("name", making.WORKS)


def small_work(name, trees=6, words=range(1, 9)):
    return making.work_of(
        name, rtf.data.generate("random", trees, words=words, vocabulary=20, seed=4)
    )


@each_work
def test_a_work_is_read_as_it_was_written(name, tmp_path):
    work = small_work(name)
    work.save(tmp_path / "work.npz")
    read = works.load(tmp_path / "work.npz")
    assert read.recursion == work.recursion
    np.testing.assert_array_equal(read.trees.left, work.trees.left)
    for key, value in work.weights.items():
        np.testing.assert_array_equal(read.weights[key], value)


def test_a_batch_has_its_trees_one_after_the_other():
    trees = small_work("treernn").trees
    batch = trees.batch(np.array([4, 0, 4]))
    sizes = trees.sizes[[4, 0, 4]]
    np.testing.assert_array_equal(batch.roots, np.cumsum(sizes) - 1)
    first = slice(trees.starts[4], trees.starts[4] + trees.sizes[4])
    np.testing.assert_array_equal(batch.word[: sizes[0]], trees.word[first])
    last = batch.left[-sizes[2] :]
    np.testing.assert_array_equal(
        np.where(last < 0, -1, last - sizes[:2].sum()), trees.left[first]
    )


def test_heights_are_above_those_of_children():
    batch = small_work("treernn").trees.batch(np.arange(6))
    heights = batch.heights()
    for node, (left, right) in enumerate(zip(batch.left, batch.right, strict=True)):
        below = [heights[left], heights[right]] if left >= 0 else [-1]
        assert heights[node] == 1 + max(below)


@each_work
def test_ours_computes_the_equations(name):
    work = small_work(name)
    trees = np.array([3, 1, 5])
    loss = RecursiveTF(work, "sgd").infer(trees)
    assert loss == pytest.approx(loss_of(work, trees), rel=1e-5)


@each_work
@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_a_step_of_ours_goes_down_the_gradient(name, optimizer):
    work = small_work(name)
    system = RecursiveTF(work, optimizer)
    trees = np.arange(6)
    first = system.train(trees)
    assert first == pytest.approx(loss_of(work, trees), rel=1e-5)
    assert system.infer(trees) < first


def test_the_norms_of_gradients_are_those_of_differences():
    work = small_work("treernn", trees=2)
    trees = np.arange(2)
    _, norms = RecursiveTF(work, "sgd").gradients(trees)
    for name in ("bias", "logits_kernel"):
        found = np.linalg.norm(differences(work, name, trees))
        assert norms[name] == pytest.approx(found, rel=1e-3)


def test_the_mv_rnn_has_no_more_units_than_it_may():
    weights = mv_rnn.weights(64)
    assert len(weights["vector_bias"]) == 30
    assert weights["embedding"].shape[1] == 30 + 30 * 30


def test_what_a_step_needs_is_counted():
    work = making.work_of("treernn", rtf.data.generate("linear", 1, words=3))
    words = len(set(work.trees.word[work.trees.left < 0]))
    flops = 2 * (2 * 60 * 30) + 5 * (2 * 30 * 5)
    states = 2 * 5 * 30 + 2 * 5 * 5
    weights = 60 * 30 + 30 + 30 * 5 + 5 + words * 30
    assert needs_of(work, 1, "inference") == Needs(flops, 4 * (states + weights))
    assert needs_of(work, 1, "training") == Needs(3 * flops, 4 * (states + 2 * weights))


def test_a_bound_is_what_is_needed_over_what_there_is():
    limits = {"gemm_peak": 1e9, "copy": 2e9, "call_s": 1e-4}
    found = bounds(Needs(flops=5e6, bytes=2e6), limits)
    assert found == pytest.approx({"products": 5e-3, "memory": 1e-3, "call": 1e-4})


def loss_of(work, trees, weights=None):
    """Node by node, in double precision, as the files of the works say it."""
    w = {k: v.astype(float) for k, v in (weights or work.weights).items()}
    batch = work.trees.batch(trees)
    own = {"recurrent_kernel": w["kernel"], "recurrent_bias": w["bias"]}
    cell = CELLS[work.name]({**w, **own})
    vectors = w["embedding"][batch.word]
    states = equations.states_of(cell, batch.left, batch.right, vectors)
    chosen = batch.roots if work.recursion.loss_at == "roots" else range(len(states))
    total = 0.0
    for node in chosen:
        logits = states[node][0] @ w["logits_kernel"] + w["logits_bias"]
        total += np.log(np.exp(logits).sum()) - logits[batch.label[node]]
    return total / len(trees)


def differences(work, name, trees):
    """Central differences of the loss by each element of a weight."""
    weights = {k: v.astype(float) for k, v in work.weights.items()}
    loss = functools.partial(loss_of, work, trees, weights)
    return central_differences(loss, weights[name], step=1e-4)


CELLS = {
    "treelstm": equations.TreeLSTM,
    "treernn": equations.TreeRNN,
    "treefc": functools.partial(
        equations.TreeRNN, activation=lambda x: np.maximum(x, 0)
    ),
}
