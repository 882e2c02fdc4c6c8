"""The benchmark of Graphi's networks runs; how fast is for a quiet machine to say."""

import json

import pytest

from benchmarks.graphi import __main__ as graphi
from benchmarks.graphi import chart, page, schedules

pytestmark = pytest.mark.slow


@pytest.fixture
def tiny(monkeypatch):
    for name, kind in graphi.KINDS.items():
        monkeypatch.setitem(kind.sizes, "tiny", (32, 1) if "GoogLe" in name else (8, 4))
    monkeypatch.setitem(schedules.SHARES, "tiny", 32)


@pytest.mark.large
def test_it_prints_a_table_and_keeps_what_the_page_is_made_of(capsys, tmp_path, tiny):
    file = tmp_path / "found.json"
    choices = ["--sizes", "tiny", "--batch=2", "--repeats=2"]
    graphi.main([*choices, "--json", str(file)])
    printed = capsys.readouterr().out
    for name in graphi.KINDS:
        assert f"| {name} | tiny | 2 |" in printed
    found = json.loads(file.read_text())
    assert page.table_of(found["rows"]) in page.networks(found)


@pytest.mark.large
def test_schedules_are_a_table_and_a_picture(capsys, tmp_path, tiny):
    file = tmp_path / "found.json"
    names = ["--networks", "LSTM", "PathNet"]
    schedules.main(["--sizes", "tiny", *names, "--repeats=1", "--json", str(file)])
    assert "| LSTM | tiny | 2 |" in capsys.readouterr().out
    found = json.loads(file.read_text())
    assert page.schedules_table(found["rows"]) in page.schedules(found)
    for row in found["rows"]:
        row["size"] = "small"
    chart.draw(found, tmp_path / "graphi.png")
    assert (tmp_path / "graphi.png").stat().st_size > 10_000


def test_a_process_has_so_many_threads_of_tensorflow(monkeypatch):
    kind = graphi.KINDS["LSTM"]
    made = []
    monkeypatch.setattr(schedules, "THREADS", ((1, 2),))
    monkeypatch.setattr(
        schedules.subprocess,
        "run",
        lambda command, **_: made.append(command) or _Done("noise\n1.25\n"),
    )
    assert schedules.with_threads("LSTM", kind.batch, 3) == {"1+2": 1.25}
    assert made[0][-6:] == ["--one", "LSTM", "64", "3", "1", "2"]


class _Done:
    def __init__(self, stdout):
        self.stdout = stdout
