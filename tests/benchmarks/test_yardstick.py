"""The yardstick compares systems that agree, and its pages say what it found."""

import json
import sys

import pytest

from benchmarks import pages
from benchmarks.origin import origin
from benchmarks.works import making
from benchmarks.yardstick import session, tables, yardstick_page
from benchmarks.yardstick.agreement import disagreement
from benchmarks.yardstick.session import Plan
from benchmarks.yardstick.systems import OURS, PARTS, SYSTEMS, System

ANSWER = {"loss": 2.0, "inferred": 2.0, "norms": {"kernel": 0.5}}
# A system without a framework: its loss is what FAKE_LOSS says, or it ends.
FAKE = """
import os
from benchmarks.peers import command

class Fake:
    loss = float(os.environ["FAKE_LOSS"])

    def train(self, trees):
        return self.loss

    infer = train

    def gradients(self, trees):
        return self.loss, {"kernel": 1.0}

command.main(lambda work, optimizer: Fake(), lambda: {"fake": "1"})
"""


# Its parts become longer with each answer, by a tenth.
FAKE_PARTS = """
import json, sys

print("{}", flush=True)
for i, _ in enumerate(sys.stdin):
    parts = {"collate": 0.25, "call and loss": 0.75}
    print(json.dumps({name: ms + i % 2 / 10 for name, ms in parts.items()}), flush=True)
"""


class FakeSystem(System):
    """Runs `FAKE`."""

    __slots__ = ()

    def command(self):
        return [sys.executable, "-c", FAKE, "--serve"]


class FakeParts(System):
    """Runs `FAKE_PARTS`."""

    __slots__ = ()

    def command(self):
        return [sys.executable, "-c", FAKE_PARTS]


def fake(name, loss):
    return FakeSystem(name, SYSTEMS[name].title, "", variables={"FAKE_LOSS": loss})


@pytest.fixture(scope="module")
def found():
    """A session of systems that do nothing, of which one does not agree."""
    plan = Plan(["treernn"], ["sgd", "adagrad"], [1, 25], rounds=2, seconds=0.0)
    systems = [
        fake(OURS, "2"),
        fake("torch_by_hand", "2"),
        fake("torch_eager", "3"),
        fake("jax_levels", "nothing"),
    ]
    return {
        **origin("benchmarks", []),
        "plan": vars(plan),
        "limits": {
            "gemm": {"treelstm": {"1": 1e9}},
            "gemm_peak": 1e9,
            "copy": 1e9,
            "call_s": 1e-4,
            "launch_s": 1e-6,
        },
        **vars(session.run(plan, systems, FakeParts(PARTS, "", ""))),
    }


def test_systems_agree_that_differ_in_the_sixth_digit():
    assert not disagreement({**ANSWER, "loss": 2.00001}, ANSWER)
    assert "loss is 2.0001" in disagreement({**ANSWER, "loss": 2.0001}, ANSWER)


@pytest.mark.parametrize(
    ("norms", "why"),
    [
        ({"kernel": 0.6}, "gradient of kernel is 0.6, and has to be 0.5"),
        ({"kernel": float("nan")}, "gradient of kernel is nan"),
        ({}, "not the same weights: gradient of kernel"),
    ],
)
def test_where_gradients_differ_is_said(norms, why):
    assert why in disagreement({**ANSWER, "norms": norms}, ANSWER)


def test_every_system_that_agrees_has_a_run_a_round(found):
    keys = [(r["optimizer"], r["mode"], r["batch"]) for r in found["rows"]]
    assert keys == [
        ("sgd", "training", 1),
        ("sgd", "training", 25),
        ("sgd", "inference", 1),
        ("sgd", "inference", 25),
        ("adagrad", "training", 1),
        ("adagrad", "training", 25),
    ]
    first = found["rows"][0]["trees_per_s"]
    assert {name: len(runs) for name, runs in first.items()} == {
        OURS: 2,
        "torch_by_hand": 2,
    }
    assert found["systems"][OURS]["versions"] == {"fake": "1"}


def test_parts_of_our_steps_are_medians_of_the_same_rounds(found):
    keys = [(each["mode"], each["batch"]) for each in found["breakdowns"]]
    assert keys == [
        ("training", 1),
        ("training", 25),
        ("inference", 1),
        ("inference", 25),
    ]
    first = found["breakdowns"][0]["ms"]
    assert first == pytest.approx({"collate": 0.3, "call and loss": 0.8})


def test_who_does_not_agree_or_does_not_start_is_left_out_with_a_reason(found):
    reasons = found["left_out"]
    assert "loss is 3, and has to be 2" in reasons["torch_eager (treernn, sgd)"]
    assert "could not convert string to float: 'nothing'" in reasons["jax_levels"]


def test_every_table_is_printed(found):
    text = "\n\n".join(tables.all_of(found))
    for heading in (
        "treernn, training, adagrad",
        "parts of a step of ours",
        "Not timed",
    ):
        assert heading in text
    assert "PyTorch by hand" in text


def test_a_ratio_is_the_median_of_the_rounds():
    row = {
        "trees_per_s": {OURS: [10.0, 40.0, 90.0], "torch_by_hand": [5.0, 10.0, 90.0]}
    }
    assert tables.ratio_to(row, "torch_by_hand") == 2.0


def test_a_row_in_which_a_peer_is_ahead_is_listed(found):
    ahead = {OURS: [1.0, 1.0], "torch_by_hand": [2.0, 2.0]}
    rows = [{**found["rows"][0], "trees_per_s": ahead}]
    text = tables.behind({**found, "rows": rows})
    assert "| PyTorch by hand | 0.50 | call and loss 73%, collate 27% |" in text


def test_a_page_is_filled_from_its_json(found, tmp_path):
    (tmp_path / "yardstick.json").write_text(json.dumps(found))
    page = "<!-- figures: yardstick.summary -->\nold\n<!-- end of figures -->\nAfter."
    filled = pages.filled(page, tmp_path)
    assert "old" not in filled
    assert yardstick_page.summary(found) in filled
    assert pages.filled(filled, tmp_path) == filled


def test_a_chart_is_drawn(found, tmp_path):
    (tmp_path / "yardstick.json").write_text(json.dumps(found))
    yardstick_page.draw(tmp_path / "yardstick.json", tmp_path)
    assert (tmp_path / "speed_treernn.png").stat().st_size > 10_000


@pytest.mark.parametrize("page", pages.PAGES)
def test_pages_have_the_figures_of_their_json(page):
    text = (pages.ROOT / page).read_text()
    assert pages.filled(text) == text


def test_works_of_the_yardstick_have_systems_of_ours():
    assert set(making.WORKS) == {"treelstm", "treefc", "treernn"}
