"""Replicas get their trees whichever way a distributed dataset is read."""

import pytest

from tests.distribute import programs
from tests.distribute.reading import WAYS
from tests.distribute.trainings import MIRRORED, WORKERS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = programs.shared_folder(tmp_path_factory)
    return {
        "mirrored": programs.replicas(2, MIRRORED[2], folder)["read"],
        "workers": programs.workers(2, WORKERS[2], folder)["read"],
    }


@pytest.mark.parametrize("way", [way.__name__ for way in WAYS])
@pytest.mark.parametrize(
    ("place", "tokens"),
    [("mirrored", [[6, 4], [12, 0]]), ("workers", [[6], [12]])],
)
def test_each_replica_of_a_process_gets_its_share(found, way, place, tokens):
    """Of a last batch of one tree, the second replica gets nothing."""
    assert found[place][way] == tokens
