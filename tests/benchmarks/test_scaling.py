"""The benchmark of clusters runs, and its tables say what was measured."""

import dataclasses
import json
import subprocess
import sys

import pytest

from benchmarks.scaling import __main__ as scaling
from benchmarks.scaling import link, network, processes, scaling_page
from benchmarks.scaling.jobs import (
    Jobs,
    Steps,
    Training,
    read_jobs,
    read_steps,
    write_jobs,
    write_steps,
)
from benchmarks.scaling.measuring import Measured, as_json, from_json
from recursive_tf.distribute import Host, run_cluster
from tests.helpers.programs import Program


def test_jobs_and_steps_are_read_as_they_were_written(tmp_path):
    jobs = Jobs(None, 7, (50, 4, 4), [Training("batched", 2, 1, 1)])
    steps = [Steps([0.1], 3.0)]
    path = tmp_path / "file"
    write_jobs(path, jobs)
    assert read_jobs(path) == dataclasses.replace(jobs, size=[*jobs.size])
    write_steps(path, steps)
    assert read_steps(path) == steps


def test_bytes_sent_are_those_of_all_interfaces(tmp_path, monkeypatch):
    counters = tmp_path / "dev"
    counters.write_text(
        "Inter-|\n face |\n"
        "    lo: 1 2 3 4 5 6 7 8 40 10 11 12 13 14 15 16\n"
        "  eth0: 1 2 3 4 5 6 7 8 2 10 11 12 13 14 15 16\n"
    )
    monkeypatch.setattr(network, "COUNTERS", counters)
    assert network.bytes_sent() == 42


def test_a_rate_that_tc_has_not_is_refused(capsys):
    with pytest.raises(SystemExit):
        scaling.parse(["--link", "fast"])
    assert "'fast' is no whole number and gbit" in capsys.readouterr().err


def test_tasks_run_where_their_hosts_are(tmp_path):
    say = "import os; print(os.environ['PLACE'], os.environ['TF_CONFIG'])"
    hosts = [Host(f"10.0.0.{i}", ("env", f"PLACE=host{i}")) for i in (1, 2)]
    command = [sys.executable, "-c", say]
    assert run_cluster(command, {"worker": 2}, tmp_path, hosts) is None
    first, second = ((tmp_path / f"worker-{i}.log").read_text() for i in (0, 1))
    assert first.startswith("host1 ")
    assert second.startswith("host2 ")
    config = json.loads(second.partition(" ")[2])
    addresses = [address.split(":")[0] for address in config["cluster"]["worker"]]
    assert addresses == ["10.0.0.1", "10.0.0.2"]


def test_what_the_first_task_says_need_not_be_shown(tmp_path, capfdbinary):
    command = [sys.executable, "-c", "print('hello')"]
    assert run_cluster(command, {"a": 1}, tmp_path / "logs", is_shown=False) is None
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


def test_what_was_measured_is_read_as_it_was_written():
    key = ("batched", 2)
    steps = {key: Steps([0.1, 0.2], 3.0)}
    measured = Measured(steps, steps, steps, {})
    assert from_json(json.loads(json.dumps(as_json(measured)))) == measured


def test_a_report_has_every_table(capsys):
    """2 trees take 10 ms, 4 take 20, two workers 16."""
    key, pair = ("batched", 2), Steps([0.016, 0.016], 4000.0)
    alone = {key: Steps([0.010], 0.0), ("batched", 4): Steps([0.020], 0.0)}
    apart = {key: Steps([0.012], 0.0)}
    scaling.print_report(Measured(alone, apart, {key: pair}, {key: pair}), "1gbit")
    printed = capsys.readouterr().out
    assert "| 10 | 12 | 16 | 62% | 75% | 1.25 | 62% | 2 |" in printed
    goal = "two workers, batched, 2 trees a worker | efficiency | at least 0.85 | 0.625"
    assert goal in printed


@pytest.mark.large
@pytest.mark.slow
def test_two_workers_measure_what_they_are_asked_to():
    jobs = Jobs(None, 30, (50, 4, 4), [Training("batched", 4, 1, 2)])
    (steps,) = processes.together(jobs, 2)
    assert len(steps.seconds) == 2
    assert min(*steps.seconds, steps.bytes_sent) > 0


@pytest.mark.slow
def test_a_worker_that_fails_says_why():
    with pytest.raises(RuntimeError, match="executor"):
        processes.alone(Jobs(None, 30, (50, 4, 4), [Training("none", 4, 1, 1)]))


@pytest.mark.large
@pytest.mark.slow
def test_the_quick_form_prints_and_keeps_what_the_page_is_made_of(tmp_path):
    # In a process of its own: the command takes one thread for all that follows.
    file = tmp_path / "scaling.json"
    small = ["--quick", "--trees=20", "--batch_sizes", "2", "--executors", "batched"]
    arguments = [*small, "--json", str(file)]
    program = Program("benchmarks.scaling", arguments, tmp_path / "log")
    assert "| batched | 2 | " in program.finish(300)
    assert "| batched | 2 | " in scaling_page.steps(json.loads(file.read_text()))
