"""Rows run and give numbers; how fast is for a quiet machine to say."""

import json
import math

import pytest

from benchmarks import calls, fresh
from benchmarks.effort import Effort
from tests.helpers.programs import SERVER

QUICK = Effort(repeats=1, quick=True)


@pytest.fixture(autouse=True)
def forked(monkeypatch):
    """Lets fresh processes begin with TensorFlow imported: numbers say nothing here."""
    monkeypatch.setattr(fresh, "CONTEXT", SERVER)


@pytest.mark.slow
@pytest.mark.parametrize("row", calls.ROWS)
def test_a_row_gives_finite_numbers(row):
    figures = calls.ROWS[row](QUICK)
    assert figures
    assert all(math.isfinite(run) for figure in figures for run in figure.runs)


@pytest.mark.slow
def test_the_command_prints_a_table_and_writes_it(tmp_path, capsys, monkeypatch):
    # The other tests of this process keep their processors.
    monkeypatch.setattr(calls, "use_two_cores", lambda: None)
    path = tmp_path / "calls.json"
    calls.main(["--quick", "--only", "fib", "--json", str(path)])
    rows = json.loads(path.read_text())["rows"]
    assert list(rows) == ["fib"]
    assert rows["fib"][0]["figure"] in capsys.readouterr().out


def test_a_row_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit):
        calls.parse(["--only", "speed"])
    assert "speed" in capsys.readouterr().err


def test_a_median_of_few_runs_is_refused(capsys):
    with pytest.raises(SystemExit):
        calls.parse(["--repeats", "3"])
    assert "at least 5" in capsys.readouterr().err
