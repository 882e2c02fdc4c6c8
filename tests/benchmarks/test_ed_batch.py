"""ED-Batch's workloads are right in both executors; tables say what was found."""

import json

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch import __main__ as command
from benchmarks.ed_batch import (
    bilstm_char_tagger,
    latency,
    layout,
    page,
    row_order,
    tree_gru,
    tree_lstm,
)
from benchmarks.ed_batch.launches import launches_of, models_of, policies_of
from benchmarks.ed_batch.workloads import WORKLOADS

pytestmark = pytest.mark.slow

UNITS, SIZE = 4, 5


@pytest.fixture(params=WORKLOADS, ids=lambda workload: workload.name)
def workload(request):
    return request.param


def test_values_and_gradients_are_those_of_the_dataflow_executor(workload):
    [batch] = workload.batches(None, SIZE, 1)
    results = []
    weights = None
    for executor in ("batched", "dataflow"):
        model = workload.model(UNITS, executor=executor)
        model(*batch)
        weights = weights or model.get_weights()
        model.set_weights(weights)
        with tf.GradientTape() as tape:
            outputs = model(*batch)
            loss = tf.reduce_sum(outputs**2)
        # A kind of node has no words of its own.
        gradients = [
            tf.convert_to_tensor(gradient)
            for gradient in tape.gradient(loss, model.trainable_variables)
            if gradient is not None
        ]
        assert len(gradients) >= len(model.trainable_variables) - 2
        results.append([outputs, *gradients])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.large
def test_what_was_learned_is_below_agenda_and_depth_on_other_batches(workload):
    batches = workload.batches(None, SIZE, 4)
    policies = policies_of(workload, UNITS, batches[:2])
    models = models_of(workload, UNITS, policies, batches[0])
    counts = {name: launches_of(m, batches[2:])[0] for name, m in models.items()}
    assert counts["fsm"] <= min(counts["agenda"], counts["depth"])
    assert counts["critical_path"] <= min(counts["agenda"], counts["depth"])


@pytest.mark.large
def test_the_tables_have_a_row_for_each_workload(capsys, tmp_path):
    # Those that are traced soonest: the others are run above.
    names = [module.WORKLOAD.name for module in (tree_lstm, tree_gru)]
    sizes = ["--batch=3", "--batches=1", "--units=4", "--repeats=1"]
    file = tmp_path / "found.json"
    command.main([*sizes, "--only", *names, "--json", str(file)])
    found = json.loads(file.read_text())
    for block in page.BLOCKS.values():
        lines = [line for line in block(found).splitlines() if line.startswith("|")]
        assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == names
    assert f"| {names[0]} |" in capsys.readouterr().out


def test_a_layout_is_planned_for_each_workload(capsys, tmp_path):
    names = [tree_lstm.WORKLOAD.name]
    file = tmp_path / "found.json"
    sizes = ["--batch=3", "--units=4", "--repeats=1"]
    layout.main([*sizes, "--only", *names, "--json", str(file)])
    found = json.loads(file.read_text())
    for block in layout.BLOCKS.values():
        lines = [line for line in block(found).splitlines() if line.startswith("|")]
        assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == names
    assert f"| {names[0]} |" in capsys.readouterr().out


def test_real_data_is_read_where_it_is(tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst" / "train.txt").write_text("(3 (2 A) (4 film))\n" * 4)
    [[forest], _] = tree_lstm.WORKLOAD.batches(tmp_path, 2, 2)
    assert isinstance(forest, rtf.data.Forest)
    assert len(forest) == 2
    (tmp_path / "wikiner").mkdir()
    (tmp_path / "wikiner" / "train.txt").write_text("A|O film|I-MISC\n\n. |O\n")
    [[text]] = bilstm_char_tagger.WORKLOAD.batches(tmp_path, 1, 1)
    assert text.to_list() == [[[65], [102, 105, 108, 109]]]


def test_the_order_of_rows_is_measured_for_both_kinds_of_block(monkeypatch, tmp_path):
    monkeypatch.setattr(row_order, "SIZES", [(4, 6)])
    file = tmp_path / "found.json"
    row_order.main(["--repeats=1", "--json", str(file)])
    page = row_order.row_order(json.loads(file.read_text()))
    assert "| 4 | 6 | compiled |" in page
    assert "| 4 | 6 | tensorflow |" in page


def test_latency_stands_beside_the_figures_of_the_paper(monkeypatch, tmp_path):
    paper = {("TreeGRU", 2, 4): (1.5, 2.5), ("TreeLSTM", 3, 4): (3.5, 4.5)}
    monkeypatch.setattr(latency, "PAPER", paper)
    monkeypatch.setattr(latency, "use_two_cores", lambda: None)
    file = tmp_path / "found.json"
    latency.main(["--batches=2", "--units=4", "--repeats=1", "--json", str(file)])
    found = json.loads(file.read_text())
    assert all(row["ms"][0] > 0 for row in found["rows"])
    lines = latency.latency(found).splitlines()[-2:]
    assert [line.split(" | ")[::2] for line in lines] == [
        ["| TreeGRU", "4", "1.5"],
        ["| TreeLSTM", "4", "3.5"],
    ]


@pytest.mark.parametrize("blocks", row_order.KINDS)
def test_rows_may_stand_anywhere(blocks):
    case = row_order.TwoCalls(4, 6, blocks)
    in_order = case.run().numpy()
    case.order.assign(case.random)
    anywhere = case.run().numpy()
    case.order.assign(tf.range(12))
    np.testing.assert_allclose(case.run(), in_order, rtol=1e-5)
    assert not np.allclose(in_order, anywhere)
