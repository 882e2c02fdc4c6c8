"""Steps that a coordinator sends to workers, with variables on a parameter server."""

import numpy as np
import pytest

from tests.distribute import programs
from tests.distribute.traffic import SIZE, WORDS

pytestmark = pytest.mark.slow
each = pytest.mark.parametrize("executor", ["batched", "dataflow"])


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return programs.parameter_server(programs.shared_folder(tmp_path_factory))


@each
def test_workers_train_an_encoder_as_one_process_does(found, executor):
    alone, sent = found[f"train {executor}"]
    assert alone["losses"][-1] < 0.8 * alone["losses"][0]
    np.testing.assert_allclose(sent["losses"], alone["losses"], rtol=1e-5)
    np.testing.assert_allclose(sent["table"], alone["table"], rtol=1e-5, atol=1e-6)


@each
def test_bodies_read_and_look_up_what_the_server_holds(found, executor):
    alone, sent = found[f"recurse {executor}"]
    for mine, theirs in zip(sent, alone, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert np.count_nonzero(sent[2]) == 6


def test_bodies_cannot_change_what_the_server_holds(found):
    assert "/job:ps" in found["change"]
    assert "change it outside" in found["change"]


def test_rows_are_sent_and_not_tables(found):
    """Of words that trees have, once there, and once as their gradients back."""
    rows, table = found["rows"] * SIZE * 4, WORDS * SIZE * 4
    assert 2 * rows < found["bytes"] < 8 * rows < table / 50
