"""The benchmark of first steps runs; how fast is for a quiet machine to say."""

import pytest

from benchmarks import first_step
from benchmarks.treelstm_model import Size

pytestmark = pytest.mark.slow

SMALL = Size(50, 4, 4)


@pytest.mark.large
def test_it_prints_a_row_for_each_program(capsys):
    first_step.main(["--repeats", "1"], SMALL)
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == [
        "| TreeLSTM",
        "| TreeLSTM, dataflow",
        "| Keras's LSTM",
    ]
    for row in rows:
        assert all(float(cell.split(" ")[0]) > 0 for cell in row[1:])
