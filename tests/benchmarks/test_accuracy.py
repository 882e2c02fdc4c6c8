"""The table of accuracies: what chooses an epoch, and what is shown of it."""

import json

import numpy as np
import pytest

from benchmarks.accuracy import __main__ as command
from benchmarks.accuracy import accuracy_page, packaged_vectors
from benchmarks.accuracy.choosing import chosen
from recursive_tf.training import RunFolder, record

SMALL = ["--models=tree_rnn", "--limit_trees=20", "--epochs=2", "--hold_out=0.3"]


def epoch(number, **accuracies):
    of_splits = {s: {"root_fine": a, "root_binary": a} for s, a in accuracies.items()}
    return {"epoch": number, **of_splits}


EPOCHS = [
    epoch(1, held_out=0.5, dev=0.25, test=0.75),
    epoch(2, held_out=0.25, dev=0.5, test=0.125),
]


def test_one_split_chooses_and_the_others_are_measured():
    by = chosen(EPOCHS, "all")
    assert {split: found["epoch"] for split, found in by.items()} == {
        "held_out": 1,
        "dev": 2,
    }
    assert by["held_out"]["dev"]["root_fine"] == 0.25
    assert by["dev"]["test"]["root_fine"] == 0.125


def run_of(model, labels, seed, epochs):
    asked = {"model": model, "labels": labels, "seed": seed}
    return {"asked": asked, "by": chosen(epochs, labels)}


def test_a_row_has_the_mean_and_the_spread_of_its_seeds():
    better = [epoch(1, held_out=0.5, dev=0.26, test=0.5), EPOCHS[1]]
    runs = [run_of("rntn", "all", 0, EPOCHS), run_of("rntn", "all", 1, better)]
    *_, row = accuracy_page.table_of(runs, "root_fine").splitlines()
    assert row == (
        "| RNTN | five | 2 | 25.5 ± 0.7 | 50.0 ± 0.0 | 25.0 ± 0.0 | 12.5 ± 0.0 | 45.7 |"
    )


def test_both_kinds_of_labels_are_shown_of_binary_alone():
    runs = [run_of("rntn", labels, 0, EPOCHS) for labels in ("binary", "all")]
    fine = accuracy_page.table_of(runs, "root_fine").splitlines()
    binary = accuracy_page.table_of(runs, "root_binary").splitlines()
    assert [line.split(" | ")[1] for line in fine[2:]] == ["five"]
    assert [line.split(" | ")[1] for line in binary[2:]] == ["five", "two"]


def test_the_summary_is_of_five_labels_and_random_vectors():
    runs = [run_of("rntn", labels, 0, EPOCHS) for labels in ("binary", "all")]
    pretrained = run_of("tree_lstm", "all", 0, EPOCHS)
    pretrained["asked"]["vectors"] = "glove.txt"
    found = {"runs": [*runs, pretrained]}
    header, _, ours, published = accuracy_page.summary(found).splitlines()
    assert header.endswith("| RNTN, fine | RNTN, binary |")
    assert ours == "| here, dev split | 25.0 | 25.0 |"
    assert published == "| published, test split | 45.7 | 85.4 |"


def test_a_split_that_is_not_there_has_no_column():
    there = [{k: v for k, v in one.items() if k != "test"} for one in EPOCHS]
    table = accuracy_page.table_of([run_of("rntn", "all", 0, there)], "root_fine")
    assert "**test" not in table
    assert "dev, epoch by dev" in table


@pytest.mark.large
@pytest.mark.slow
def test_a_run_that_is_done_is_not_run_again(tmp_path, capsys):
    shared = [*SMALL, "--labels=all", "--seeds=1", f"--runs={tmp_path / 'runs'}"]
    command.main([*shared, "--json", str(tmp_path / "found.json")])
    (found,) = json.loads((tmp_path / "found.json").read_text())["runs"]
    folder = RunFolder(tmp_path / "runs" / "tree_rnn-all-0")
    lines = record.read(folder.metrics)
    best = max(lines, key=lambda line: line["dev_root_fine"])
    by_held_out = found["by"]["held_out"]
    assert by_held_out["epoch"] == best["epoch"]
    expected = pytest.approx(best["dev_root_fine"], abs=1e-4)
    assert by_held_out["held_out"]["root_fine"] == expected
    assert {"dev", "test"} <= by_held_out.keys()
    log = (folder.path / "log").read_text()
    capsys.readouterr()
    command.main(shared)
    assert "| TreeRNN | five | 1 |" in capsys.readouterr().out
    assert (folder.path / "log").read_text() == log
    with pytest.raises(SystemExit, match="choose another --runs"):
        command.main([*shared, "--hold_out=0.4"])


def test_a_words_vector_is_the_mean_of_its_pieces(tmp_path):
    (tmp_path / "train.txt").write_text("(3 (2 A) (3 (2 lovely) (2 film)))\n")
    words = packaged_vectors.words_of(tmp_path)
    assert words == ["a", "film", "lovely"]
    pieces = {"a": [0], "film": [], "lovely": [0, 1]}.__getitem__
    table = np.array([[1.0, 2.0], [3.0, 0.0]])
    lines = packaged_vectors.lines_of(words, pieces, table)
    assert lines == ["a 1.0000 2.0000", "lovely 2.0000 1.0000"]
