"""The benchmark of TD-TreeLSTM runs; how fast is for a quiet machine to say."""

import pytest

from benchmarks import td_tree_lstm

pytestmark = pytest.mark.slow


def test_it_prints_a_table(capsys):
    choices = ["--batch_sizes=4", "--repeats=1", "--trees=8", "--epochs=1"]
    td_tree_lstm.main(choices)
    lines = capsys.readouterr().out.splitlines()
    kinds = [line.split(" | ")[1] for line in lines if line.startswith("| 4 |")]
    assert kinds == ["training", "generating", "completing"]
