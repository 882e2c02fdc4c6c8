"""The benchmark of Graphi's networks runs; how fast is for a quiet machine to say."""

import json

import pytest

from benchmarks.graphi import __main__ as graphi
from benchmarks.graphi import page

pytestmark = pytest.mark.slow


def test_it_prints_a_table_and_keeps_what_the_page_is_made_of(
    capsys, tmp_path, monkeypatch
):
    for name, kind in graphi.KINDS.items():
        monkeypatch.setitem(kind.sizes, "tiny", (32, 1) if "GoogLe" in name else (8, 4))
    file = tmp_path / "found.json"
    choices = ["--sizes", "tiny", "--batch=2", "--repeats=2"]
    graphi.main([*choices, "--json", str(file)])
    printed = capsys.readouterr().out
    for name in graphi.KINDS:
        assert f"| {name} | tiny | 2 |" in printed
    found = json.loads(file.read_text())
    assert page.table_of(found["rows"]) in page.networks(found)
