"""The model's arithmetic, by hand; and that the benchmark runs."""

import dataclasses
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import recursive_tf as rtf
from benchmarks.scaling import __main__ as scaling
from benchmarks.scaling import link, model, network, picture, processes
from benchmarks.scaling.jobs import (
    Exchanging,
    Jobs,
    Results,
    Sharing,
    Steps,
    Training,
    Updating,
    read_jobs,
    read_results,
    write,
)
from benchmarks.scaling.measuring import (
    SHARED_TREES,
    UPDATED,
    Measured,
    Parts,
    Trained,
    costs_of,
)
from benchmarks.scaling.model import (
    DENSE,
    LATENCY_S,
    SPARSE,
    Costs,
    Exchange,
    Exchanged,
    Line,
    Price,
    Shares,
    Update,
)
from benchmarks.scaling.report import Report, Trees
from benchmarks.treelstm_model import Size
from models.running import local_cluster
from models.running.local_cluster import Host
from recursive_tf.distribute import balance

ALONE = float("inf")
COSTS = Costs(
    compute=Line(0.010, 0.001),
    call=0.002,
    sharing=Line(0.001, 0.0001),
    update=Update(0.5, 0.01, 0.02),
    prices={
        DENSE: Price(0.1, 0.01, 0.001, 0.75),
        SPARSE: Price(0.2, 0.02, 0.002, 0.75),
    },
    dense=[60, 40],
    row_bytes=8,
)


def test_a_line_through_points_is_found():
    assert model.fit([1, 2, 4], [3, 5, 9]) == pytest.approx((1, 2))


def test_small_and_large_seconds_count_alike():
    # The mean of 1 and 3 with weights 1 and 1/9, not their mean.
    assert model.fit([0, 0], [1, 3]).fixed == pytest.approx((1 + 1 / 3) / (1 + 1 / 9))


def test_no_part_of_a_line_is_negative():
    assert model.fit([1, 2], [2, 1]).slope == 0
    assert model.fit([1, 2], [1, 4]).fixed == 0


def test_a_ring_sends_what_the_books_say():
    dense, sparse = Exchange(DENSE, 100), Exchange(SPARSE, 100)
    assert [dense.sent(n) for n in (1, 2, 4)] == [0, 100, 150]
    assert [sparse.sent(n) for n in (1, 2, 4)] == [0, 100, 300]
    assert [dense.messages(n) for n in (1, 2, 4)] == [0, 2, 6]
    assert [sparse.messages(n) for n in (1, 2, 4)] == [0, 1, 3]


def test_a_message_costs_what_four_workers_compute_and_two_wait():
    price = model.price_of(DENSE, 7.0, Exchanged(0.5, 0.3), Exchanged(2.0, 0.7))
    # 6 messages instead of 2: 0.1 each; and 0.2 waited for 2.
    assert price == pytest.approx((0.1, 0.2, 7.0, 0.6))


def test_what_is_agreed_on_takes_no_less_than_no_time():
    price = model.price_of(DENSE, 7.0, Exchanged(0.5, 0.3), Exchanged(2.0, 99))
    assert (price.agree, price.message) == (0, 0.25)
    price = model.price_of(DENSE, 7.0, Exchanged(0.5, 0.5), Exchanged(2.0, 0.4))
    assert (price.agree, price.message) == (0.5, 0)


def test_a_rate_is_of_all_together_and_not_negative():
    assert model.rate([1, 3], [3.0, 5.0]) == (0, 2)
    assert model.rate([1, 3], [3.0, -5.0]) == (0, 0)


def test_an_update_costs_what_slices_and_rows_do():
    amounts = [(1, 1), (4, 2), (6, 6), (9, 3)]
    seconds = [0.5 + 0.1 * rows + 0.2 * distinct for rows, distinct in amounts]
    assert model.fit_update(amounts, seconds) == pytest.approx((0.5, 0.1, 0.2))


def test_one_worker_has_nothing_to_exchange():
    shares = Shares(trees=2, mean=40, most=40, rows=5, gathered=5, distinct=5)
    assert model.step_seconds(COSTS, shares, 1, 1) == pytest.approx(0.050)


def test_a_step_of_two_on_one_machine():
    shares = Shares(trees=4, mean=40, most=50, rows=5, gathered=9, distinct=7)
    parts = (
        2 * 0.060,  # Compute of the largest shard, on a machine twice as slow.
        0.002 + 0.001 + 4 * 0.0001,  # The call, and what is shared.
        (9 - 5) * 0.01 + (7 - 5) * 0.02,  # More rows.
        0.1 + 2 * 0.01 + 4 * 0.001,  # How many trees there are.
        0.1 + 2 * 0.01 + 100 * 0.001,
        0.2 + 0.02 + 40 * 0.002,
        -0.05 / 3,  # Of 0.03 that it waits for the number, a forward pass at most.
    )
    step = model.step_seconds(COSTS, shares, 2, ALONE, crowding=2)
    assert step == pytest.approx(sum(parts))


def test_a_slow_link_sets_the_price_of_a_byte_and_a_fast_one_does_not():
    exchange = [Exchange(DENSE, 100)]
    fixed = 0.1 + 2 * (0.01 + LATENCY_S)
    slow, fast = (
        model.exchange_seconds(COSTS, exchange, 2, rate) for rate in (10, 1e6)
    )
    assert slow == pytest.approx(fixed + 100 / 10)
    assert fast == pytest.approx(fixed + 100 * 0.001)


def test_shards_of_drawn_trees():
    sizes = np.array([3, 3])
    words = [np.array([7, 7]), np.array([7, 7])]
    shares = model.draw_shares(sizes, words, balance.by_nodes, 2, 5)
    assert shares == (10, 15, 15, 1, 2, 1)


def test_shards_by_nodes_are_more_equal_than_shards_by_trees():
    sizes = np.arange(1, 60)
    words = [np.arange(size) for size in sizes]
    by_nodes, by_trees = (
        model.draw_shares(sizes, words, sharing, 4, 10)
        for sharing in (balance.by_nodes, balance.in_order)
    )
    assert by_nodes.mean == by_trees.mean <= by_nodes.most
    assert by_nodes.most - by_nodes.mean < (by_trees.most - by_trees.mean) / 4
    assert model.idle_seconds(COSTS, by_nodes) == pytest.approx(
        0.001 * (by_nodes.most - by_nodes.mean)
    )


def test_jobs_and_results_are_read_as_they_were_written(tmp_path):
    jobs = Jobs(
        None,
        7,
        (50, 4, 4),
        [Training("batched", 2, 1, 1)],
        [Exchanging(DENSE, 1, 2)],
        [Sharing(4, 2)],
        [Updating(6, 3, 2)],
    )
    results = Results([Steps([0.1], [3.0], 0.0)], [(0.2, 0.1)], [0.1], [0.3])
    path = tmp_path / "file"
    write(path, jobs)
    read = read_jobs(path)
    assert read == dataclasses.replace(jobs, size=[*jobs.size])
    write(path, results)
    assert read_results(path) == results


def test_bytes_sent_are_those_of_all_interfaces(tmp_path, monkeypatch):
    counters = tmp_path / "dev"
    counters.write_text(
        "Inter-|\n face |\n"
        "    lo: 1 2 3 4 5 6 7 8 40 10 11 12 13 14 15 16\n"
        "  eth0: 1 2 3 4 5 6 7 8 2 10 11 12 13 14 15 16\n"
    )
    monkeypatch.setattr(network, "COUNTERS", counters)
    assert network.bytes_sent() == 42


def test_the_picture_has_a_part_for_each_title(tmp_path):
    path = tmp_path / "scaling.png"
    rates = {"10 Gbit/s": [1.0, 1.9, 2.7]}
    picture.draw(
        path,
        {"25 trees": rates, "64 trees": rates},
        {"25 trees": [1.0], "64 trees": [1.0, 1.8]},
    )
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_rate_that_tc_has_not_is_refused(capsys):
    with pytest.raises(SystemExit):
        scaling.parse(["--link", "fast"])
    assert "'fast' is no whole number and gbit" in capsys.readouterr().err


def test_tasks_run_where_their_hosts_are(tmp_path):
    say = "import os; print(os.environ['PLACE'], os.environ['TF_CONFIG'])"
    hosts = [Host(f"10.0.0.{i}", ("env", f"PLACE=host{i}")) for i in (1, 2)]
    command = [sys.executable, "-c", say]
    assert local_cluster.run(command, {"worker": 2}, tmp_path, hosts) is None
    first, second = ((tmp_path / f"worker-{i}.log").read_text() for i in (0, 1))
    assert first.startswith("host1 ")
    assert second.startswith("host2 ")
    config = json.loads(second.partition(" ")[2])
    addresses = [address.split(":")[0] for address in config["cluster"]["worker"]]
    assert addresses == ["10.0.0.1", "10.0.0.2"]


def test_what_the_first_task_says_need_not_be_shown(tmp_path, capfdbinary):
    command = [sys.executable, "-c", "print('hello')"]
    assert (
        local_cluster.run(command, {"a": 1}, tmp_path / "logs", is_shown=False) is None
    )
    assert capfdbinary.readouterr().out == b""
    assert (tmp_path / "logs" / "a-0.log").read_text() == "hello\n"


@pytest.mark.skipif(link.why_not() is not None, reason=str(link.why_not()))
def test_hosts_on_a_link_are_gone_when_it_ends():
    before = subprocess.check_output(["ip", "netns", "list"])

    def interrupted() -> None:
        with link.linked("1gbit") as hosts:
            for host in hosts:
                shape = [*host.prefix, "tc", "qdisc", "show", "dev", "veth"]
                assert b"tbf" in subprocess.check_output(shape)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert subprocess.check_output(["ip", "netns", "list"]) == before


def _report(tmp_path, capsys) -> tuple[str, pathlib.Path]:
    """Prints and draws made up figures: 2 trees take 10 ms, 4 20, two workers 16."""
    trees = rtf.data.generate("random", 20, vocabulary=30)
    key, steps = ("batched", 2), Steps([0.016, 0.016], [148.0, 148.0], 4000.0)
    alone = {
        key: Steps([0.010], [74.0], 0.0),
        ("batched", 4): Steps([0.020], [148.0], 0.0),
    }
    exchanges = [Exchanged(0.001 * count, 0.0005) for count in (1, 2, 3, 4)]
    measured = Measured(
        Trained(
            alone=alone,
            crowded={key: Steps([0.012], [74.0], 0.0)},
            pair={key: steps},
            linked={key: steps},
            one_of_one={key: Steps([0.011], [74.0], 0.0)},
        ),
        Parts(
            exchanges={DENSE: exchanges, SPARSE: exchanges},
            of_four={DENSE: Exchanged(0.002, 0.001), SPARSE: Exchanged(0.002, 0.001)},
            sharings=[1e-6 * trees for trees in SHARED_TREES],
            updates=[1e-6 * (rows + distinct) for rows, distinct in UPDATED],
        ),
    )
    costs = {"batched": costs_of(measured, "batched", Size(30, 4, 4), [100, 200])}
    report = Report(measured, costs, Trees(trees))
    scaling.print_report(report, "1gbit")
    path = tmp_path / "scaling.png"
    scaling.draw(report, path)
    return capsys.readouterr().out, path


def test_a_report_has_every_table(tmp_path, capsys):
    printed, path = _report(tmp_path, capsys)
    assert path.read_bytes().startswith(b"\x89PNG")
    rows = [line for line in printed.splitlines() if line.startswith("| batched | 2 |")]
    cells = [row.strip("| ").split(" | ") for row in rows]
    # Two workers; the link; bytes; idle (2, 4, 8); links (3); parts; what would help.
    assert len(rows) == 11
    two, on_link, traffic = cells[:3]
    assert two[2:5] == ["10", "12", "16"]
    assert two[-3:] == ["0.62", "0.75", "1.25"]
    assert on_link[2] == "16"
    # 4 + 300 bytes are reduced; what the loopback carried is of both.
    assert (traffic[2], traffic[-1]) == ("0", "2")
    rates = [[float(rate) for rate in row[3:11]] for row in cells[6:9]]
    assert [round(row[0]) for row in rates] == [200] * 3
    assert rates[0][-1] <= rates[1][-1] <= rates[2][-1]
    goal = "two workers, batched, 2 trees a worker | efficiency | at least 0.85 | 0.625"
    assert goal in printed


@pytest.mark.slow
def test_two_workers_measure_what_they_are_asked_to():
    jobs = Jobs(
        None,
        30,
        (50, 4, 4),
        [Training("batched", 4, 1, 2)],
        [Exchanging(kind, 1, 2) for kind in (DENSE, SPARSE)],
        [Sharing(4, 2)],
        [Updating(6, 3, 2)],
    )
    found = processes.together(jobs, 2)
    (steps,) = found.training
    assert len(steps.seconds) == len(steps.nodes) == 2
    times = [seconds for times in found.exchanges for seconds in times]
    assert min(*steps.seconds, *steps.nodes, *times, *found.updates) > 0
    assert steps.bytes_sent > 0
    assert len(found.sharings) == 1


@pytest.mark.slow
def test_a_worker_that_fails_says_why():
    with pytest.raises(RuntimeError, match="executor"):
        processes.alone(Jobs(None, 30, (50, 4, 4), [Training("none", 4, 1, 1)]))
