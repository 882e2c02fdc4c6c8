"""The benchmark of fit runs; how fast is for a quiet machine to say."""

import pytest

from benchmarks import fit
from benchmarks.treelstm_model import Size

pytestmark = pytest.mark.slow


def test_it_prints_a_table(capsys, monkeypatch):
    monkeypatch.setattr(fit, "TREEBANK", Size(50, 4, 4))
    fit.main(["--repeats", "1", "--steps", "2", "--batch_size", "2"])
    printed = capsys.readouterr().out
    assert "| bare step |" in printed
    for name in ("| fit |", "| fit, 20 steps an execution |"):
        (line,) = [line for line in printed.splitlines() if line.startswith(name)]
        assert "| at least 0." in line
