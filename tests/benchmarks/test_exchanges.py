"""The benchmark of exchanges runs; how fast is for a quiet machine to say."""

import pytest

from benchmarks import exchanges

pytestmark = pytest.mark.slow


@pytest.mark.large
def test_it_prints_a_table(capsys, monkeypatch):
    for name in ("TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS"):
        monkeypatch.setenv(name, "1")
    exchanges.main(["--rounds", "1", "--repeats", "1", "--rows", "3"])
    header, _, line = capsys.readouterr().out.splitlines()
    assert header.count("|") == line.count("|") == 5
    number, *times = [cell.strip() for cell in line.strip("|").split("|")]
    assert number == "3"
    assert all(float(time) > 0 for time in times)
