"""PyTorch by hand computes what PyTorch's autograd does. Without PyTorch, not run."""

from typing import Any

import numpy as np
import pytest

from tests.helpers.works import WORKS, small_work

pytest.importorskip("torch")

from benchmarks.peers import torch_by_hand, torch_eager

CHOSEN = np.array([7, 3, 3, 11, 0])


def both(name: str, optimizer: str = "sgd") -> list[Any]:
    work = small_work(name)
    return [peer.make(work, optimizer) for peer in (torch_by_hand, torch_eager)]


@pytest.mark.parametrize("name", WORKS)
def test_loss_and_gradients_are_those_of_autograd(name: str) -> None:
    (loss, norms), (expected, expected_norms) = (
        system.gradients(CHOSEN) for system in both(name)
    )
    assert loss == pytest.approx(expected, rel=1e-5)
    assert norms == pytest.approx(expected_norms, rel=1e-5)


@pytest.mark.parametrize("name", WORKS)
def test_inference_has_the_loss_of_training(name: str) -> None:
    for system in both(name):
        loss, _ = system.gradients(CHOSEN)
        assert system.infer(CHOSEN) == pytest.approx(loss, rel=1e-6)


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
@pytest.mark.parametrize("name", WORKS)
def test_three_steps_lead_to_the_same_weights(name: str, optimizer: str) -> None:
    systems = both(name, optimizer)
    for system in systems:
        for trees in (CHOSEN, np.array([2]), np.arange(12)):
            system.train(trees)
    weights, expected = (system.weights() for system in systems)
    for key, value in weights.items():
        np.testing.assert_allclose(value, expected[key], rtol=1e-4, atol=1e-6)


def test_a_batch_of_words_alone_has_no_levels() -> None:
    work = small_work("treelstm")
    words = np.flatnonzero(work.trees.sizes == 1)
    assert len(words) > 0
    losses = [system.train(words) for system in both("treelstm")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
