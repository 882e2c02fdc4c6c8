"""Two revisions are compared in order; how fast is for a quiet machine to say."""

import json
import os
import random
import subprocess
import sys

import pytest

from benchmarks.compare import __main__ as compare
from benchmarks.compare import builds, pieces, rounds
from benchmarks.compare.verdict import FASTER, SAME, SLOWER, UNKNOWN, interval, judge
from benchmarks.workers import Worker

ROUNDS = 16
ECHO = (
    "import json, sys\n"
    "print('{}', flush=True)\n"
    "for line in sys.stdin:\n"
    "    print(json.dumps({'figure': json.loads(line)}), flush=True)\n"
)
has_git = pytest.mark.skipif(
    not (builds.ROOT / ".git").exists(), reason="the folder is no checkout"
)


def noisy_runs(seed, times=1.0, noise=0.02):
    """Runs of a machine whose speed drifts; B takes `times` as long."""
    rng = random.Random(seed)
    drift = [rng.uniform(0.8, 1.3) for _ in range(ROUNDS)]
    return {
        role: [d * cost * rng.lognormvariate(0, noise) for d in drift]
        for role, cost in (("A1", 1.0), ("A2", 1.0), ("B", times))
    }


def start(program, limit_s=30.0):
    return Worker("A1", [sys.executable, "-c", program], os.environ, limit_s)


def test_the_interval_of_a_median_is_between_two_runs():
    # Of nine runs, the second and the second last: 96%.
    assert interval(range(9)) == (4, 1, 7, True)
    assert interval(range(6)) == (2.5, 0, 5, True)


def test_five_runs_have_no_interval_of_95_percent():
    assert not interval(range(5)).is_sure


def test_an_interval_has_the_median_in_it_as_often_as_it_says():
    rng = random.Random(0)
    found = [interval([rng.gauss(0, 1) for _ in range(12)]) for _ in range(1000)]
    assert sum(low <= 0 <= high for _, low, high, _ in found) / 1000 > 0.94


def test_a_planted_slowdown_is_found():
    verdict = judge("f", noisy_runs(seed=1, times=1.1))
    assert verdict.outcome == SLOWER
    assert verdict.ratio.low < 1.1 < verdict.ratio.high


def test_most_planted_slowdowns_are_found():
    found = [judge("f", noisy_runs(seed, 1.1)).outcome for seed in range(200)]
    assert found.count(SLOWER) > 190


def test_noise_is_no_slowdown():
    found = [judge("f", noisy_runs(seed)).outcome for seed in range(500)]
    assert found.count(SLOWER) <= 2


def test_a_change_that_is_surely_there_but_small_is_none():
    runs = noisy_runs(seed=0, times=1.02, noise=0.001)
    verdict = judge("f", runs)
    assert verdict.outcome == SAME
    assert verdict.ratio.low > 1
    assert judge("f", runs, least_change=0.01).outcome == SLOWER


def test_a_slowdown_within_what_a_revision_differs_from_itself_is_none():
    runs = noisy_runs(seed=0, times=1.1)
    runs["A2"] = [1.2 * run for run in runs["A2"]]
    assert judge("f", runs).outcome == SAME


def test_a_rate_that_rises_is_faster():
    runs = noisy_runs(seed=0, times=1.1)
    assert judge("f", runs, is_rate=True).outcome == FASTER


def test_a_lower_rate_is_slower():
    runs = {r: [1 / x for x in xs] for r, xs in noisy_runs(seed=0, times=1.1).items()}
    assert judge("f", runs, is_rate=True).outcome == SLOWER


def test_too_few_runs_give_no_verdict_and_a_status_of_their_own():
    runs = {role: found[:5] for role, found in noisy_runs(seed=0, times=2).items()}
    verdict = judge("f", runs)
    assert verdict.outcome == UNKNOWN
    assert compare.status_of([verdict]) == compare.CANNOT_SAY


def test_one_figure_that_is_surely_slower_is_enough():
    slow, same = (judge("f", noisy_runs(0, times)) for times in (1.2, 1.0))
    few = judge("f", {role: [1.0] for role in rounds.ROLES})
    assert compare.status_of([same, slow, few]) == compare.SOMETHING_SLOWER == 1
    assert compare.status_of([same]) == compare.NOTHING_SLOWER == 0


def test_what_is_said_of_a_slowdown_has_its_figure_and_what_would_be_noise():
    verdict = judge("fib", noisy_runs(0, 1.2))
    said = compare.conclusion([verdict])
    assert f"fib: {verdict.ratio.median:.3f} times the cost" in said
    assert f"{verdict.bound:.3f} is noise" in said


@has_git
def test_a_revision_that_is_not_there_is_refused(capsys):
    assert compare.main(["no-such-revision", "HEAD"]) == compare.CANNOT_SAY
    assert "'no-such-revision' is no revision" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(capsys):
    with pytest.raises(SystemExit):
        compare.main(["HEAD", "HEAD", "--json", "no/such/folder/out.json"])
    assert "there is no such folder" in capsys.readouterr().err


def test_random_trees_have_as_many_words_as_asked(tmp_path):
    path = tmp_path / "trees.txt"
    pieces.write_trees(path, pieces.QUICK, None)
    trees = path.read_text().splitlines()
    assert len(trees) == pieces.QUICK.trees
    assert {tree.count("w") for tree in trees} == {pieces.WORDS}


def test_a_treebank_that_is_too_small_is_refused(tmp_path):
    (tmp_path / "train.txt").write_text("(2 (3 a) (1 b))\n")
    with pytest.raises(ValueError, match="has 1 trees, and 4 are needed"):
        pieces.write_trees(tmp_path / "trees.txt", pieces.QUICK, tmp_path)


def test_a_commit_that_was_built_is_not_built_again(tmp_path, monkeypatch):
    monkeypatch.setattr(builds, "_run", lambda *_: pytest.fail("something ran"))
    folder = builds.folder_of("0" * 40, tmp_path)
    folder.mkdir()
    assert builds.built("0" * 40, tmp_path) == folder


@has_git
def test_a_build_that_fails_leaves_no_package(tmp_path, monkeypatch):
    commit = builds.commit_of("HEAD")
    monkeypatch.setattr(builds.sys, "executable", "false")
    with pytest.raises(builds.BuildError, match=r"setup\.py"):
        builds.built(commit, tmp_path)
    assert not builds.folder_of(commit, tmp_path).exists()
    found = subprocess.check_output(
        ["git", "-C", tmp_path / "tree", "rev-parse", "HEAD"],
        env=builds.environment(),
        text=True,
    )
    assert found.strip() == commit


def test_rounds_take_every_figure_of_every_process(tmp_path):
    answers = ECHO.replace("json.loads(line)", "1.0")
    orders = []

    def noted(role):
        worker = start(answers)
        ask = worker.ask
        worker.ask = lambda **order: orders.append((role, order)) or ask(**order)
        return worker

    measured = rounds.measure(noted, pieces.QUICK, 0, random.Random(0))
    assert measured.rounds == 1
    counts = {len(runs) for role in measured.runs.values() for runs in role.values()}
    assert counts == {1, rounds.STEADY_A_ROUND}
    # What one process is asked for, the two others are asked for next.
    steady = [order for _, order in orders if order["do"] in ("calls", "trees")]
    assert all(steady[i] == steady[i + 1] == steady[i + 2] for i in range(0, 48, 3))


@pytest.mark.large
@has_git
@pytest.mark.slow
def test_the_command_compares_a_revision_with_itself(tmp_path, capsys, monkeypatch):
    # The other tests of this process keep their processors.
    monkeypatch.setattr(compare, "use_two_cores", lambda: None)
    # The library of this folder, instead of a build.
    folder = builds.folder_of(builds.commit_of("HEAD"), tmp_path / "cache")
    folder.mkdir(parents=True)
    (folder / builds.PACKAGE).symlink_to(builds.ROOT / builds.PACKAGE)
    path = tmp_path / "out.json"
    told = ["HEAD", "HEAD", "--quick", "--cache", str(tmp_path / "cache")]
    assert compare.main([*told, "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    written = json.loads(path.read_text())
    names = [piece.name for piece in pieces.all_pieces(pieces.QUICK)]
    assert all(f"| {name} |" in printed for name in names)
    assert list(written["rows"]) == list(rounds.ROLES)
    for figures in written["rows"].values():
        assert [figure["figure"] for figure in figures] == names
        assert all(run > 0 for figure in figures for run in figure["runs"])
