"""Both forms of Cavs's programs compute the same; tables say what was found."""

import json

import pytest
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.cavs import __main__ as command
from benchmarks.cavs import messages, optimizations, page, times, tree_lstm
from benchmarks.cavs.program import training
from benchmarks.cavs.programs import PROGRAMS

UNITS, SIZE = 5, 2


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_both_forms_compute_the_same(program):
    weights = program.weights(UNITS)
    [batch] = program.batches(None, SIZE, 1)
    steps = {
        name: training(form, weights.trainable_variables)
        for name, form in program.forms(weights).items()
    }
    times.check_same(steps, batch)
    (loss, _), _ = (step(*batch) for step in steps.values())
    assert float(loss) > 0


@pytest.mark.slow
def test_a_vertex_function_takes_as_many_launches():
    for program in PROGRAMS:
        forms = program.forms(program.weights(UNITS))
        [batch] = program.batches(None, SIZE, 1)
        found = {name: times.launches_of(f, batch) for name, f in forms.items()}
        assert found["vertex"] == found["subgraph"]


def test_forms_that_differ_are_not_measured():
    one, other = (tf.function(lambda x, by=by: by * x) for by in (1.0, 2.0))
    with pytest.raises(AssertionError):
        times.check_same({"vertex": one, "subgraph": other}, (tf.constant(1.0),))


def test_real_trees_are_read_where_they_are(tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst" / "train.txt").write_text("(3 (2 A) (4 film))\n" * 4)
    [[forest], _] = tree_lstm.batches(tmp_path, 2, 2)
    assert isinstance(forest, rtf.data.Forest)
    assert len(forest) == 2


@pytest.mark.slow
def test_the_table_has_a_row_for_each_setting(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "use_two_cores", lambda: None)
    names = [program.name for program in PROGRAMS[:2]]
    file = tmp_path / "found.json"
    command.main(["--quick", "--only", *names, "--json", str(file)])
    found = json.loads(file.read_text())
    only = "--quick --only Fixed-LSTM Var-LSTM"
    assert found["command"] == f"python -m benchmarks.cavs {only}"
    lines = page.speeds(found).splitlines()
    rows = [line for line in lines if line.startswith("|")][2:]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == names
    assert f"| {names[0]} | 8 | 2 |" in capsys.readouterr().out


def test_ratios_are_those_of_medians():
    runs = {"vertex": [1.0, 30.0, 20.0], "subgraph": [10.0, 10.0, 500.0]}
    row = {
        "program": "Tree-FC",
        "units": 4,
        "batch": 8,
        "samples_per_s": {"training": runs, "inference": runs},
        "launches": {"vertex": 3, "subgraph": 6},
    }
    about = dict.fromkeys(
        ("command", "revision", "time", "processors", "processor"), "?"
    )
    about |= {"tensorflow": "?", "python": "?", "rows": [row]}
    cells = "| Tree-FC | 4 | 8 | 20 | 10 | 2.00 | 20 | 10 | 2.00 | 3 | 6 |"
    assert page.speeds(about).splitlines()[-1] == cells


@pytest.mark.slow
def test_optimizations_are_measured_each_by_itself(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(optimizations, "use_two_cores", lambda: None)
    file = tmp_path / "found.json"
    optimizations.main(["--quick", "--only", "Tree-LSTM", "--json", str(file)])
    found = json.loads(file.read_text())
    lines = page.optimizations(found).splitlines()
    assert lines[0].startswith("`python -m benchmarks.cavs.optimizations --quick")
    assert [line.split(" | ")[3] for line in lines[4:]] == ["training", "inference"]
    assert "| lazy batching | fusion | both |" in capsys.readouterr().out


@pytest.mark.slow
def test_messages_are_the_same_in_all_forms(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "use_two_cores", lambda: None)
    file = tmp_path / "found.json"
    messages.main(["--quick", "--json", str(file)])
    found = json.loads(file.read_text())
    lines = page.messages(found).splitlines()
    assert [line.split(" | ")[2] for line in lines[4:]] == ["training", "inference"]
    assert "| vertex function | SubGraph |" in capsys.readouterr().out


def test_a_form_of_messages_that_differs_is_not_measured(monkeypatch):
    def other(person):
        return lambda friends, traits: 2.0 * messages.plain(person)(friends, traits)

    monkeypatch.setitem(messages.FORMS, "vertex", other)
    with pytest.raises(AssertionError):
        messages.row_of(10, 4, times.Effort(None, 1, 1, 0.0))
