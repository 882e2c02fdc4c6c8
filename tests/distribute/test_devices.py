"""Bodies use variables of another device than the call is on."""

import pytest

from tests.distribute import programs
from tests.distribute.trainings import MIRRORED

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = programs.shared_folder(tmp_path_factory)
    return programs.replicas(2, MIRRORED[2], folder)["across devices"]


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_the_root_call_reads_them(found, executor):
    # 2 (1 + 3 + 5) + 0.5 and 2 (2 + 4 + 6) + 0.25.
    result, of_scale, of_table, of_bias = found[executor]["eager"]
    assert result == found[executor]["traced"] == [18.5, 24.25]
    assert of_scale == 21.0
    assert of_table == [[2.0, 2.0]] * 3
    assert of_bias == [1.0, 1.0]
