"""The benchmark of TD-TreeLSTM runs; how fast is for a quiet machine to say."""

import json

import pytest

from benchmarks import td_tree_lstm, td_tree_lstm_page

pytestmark = pytest.mark.slow


@pytest.mark.large
def test_it_prints_a_table_and_keeps_what_the_page_is_made_of(capsys, tmp_path):
    choices = ["--batch_sizes=4", "--repeats=1", "--trees=8", "--epochs=1"]
    file = tmp_path / "found.json"
    td_tree_lstm.main([*choices, "--json", str(file)])
    page = td_tree_lstm_page.speeds(json.loads(file.read_text()))
    assert "| 4 | completing |" in page
    lines = capsys.readouterr().out.splitlines()
    kinds = [line.split(" | ")[1] for line in lines if line.startswith("| 4 |")]
    assert kinds == ["training", "generating", "completing"]
