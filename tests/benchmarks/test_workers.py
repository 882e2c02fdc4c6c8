"""A worker answers requests, is stopped between them, and says why it ended."""

import os
import pathlib
import sys
import time

import pytest

from benchmarks.workers import Worker, WorkerError

ECHO = (
    "import json, sys\n"
    "print('{}', flush=True)\n"
    "for line in sys.stdin:\n"
    "    print(json.dumps({'figure': json.loads(line)}), flush=True)\n"
)


def start(program, limit_s=30.0):
    return Worker("A1", [sys.executable, "-c", program], os.environ, limit_s)


def state_of(pid):
    """The letter of a process, e.g. T where it is stopped."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_request_is_answered():
    with start(ECHO) as worker:
        assert worker.ask(do="it", times=2)["figure"] == {"do": "it", "times": 2}


def test_a_process_is_stopped_between_requests():
    with start(ECHO) as worker:
        assert wait_for_state(worker.pid, "T")
        worker.ask(do="it")
        assert wait_for_state(worker.pid, "T")


def wait_for_state(pid, state):
    end = time.monotonic() + 30
    while state_of(pid) != state and time.monotonic() < end:
        time.sleep(0.01)
    return state_of(pid) == state


def test_a_stopped_process_ends_with_its_context():
    with pytest.raises(KeyboardInterrupt), start(ECHO) as worker:
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)


def test_a_process_that_dies_at_its_start_shows_its_stderr():
    with pytest.raises(WorkerError, match=r"(?s)A1 died, with status 1.*no luck"):
        start("import sys; sys.exit('no luck')")


def test_a_process_that_dies_of_a_request_shows_its_stderr():
    dies = "print('{}', flush=True); input(); raise ValueError('no luck')"
    with (
        start(dies) as worker,
        pytest.raises(WorkerError, match=r"(?s)A1 died.*ValueError: no luck"),
    ):
        worker.ask(do="it")


def test_a_process_that_says_nothing_is_given_up():
    with pytest.raises(WorkerError, match="gave no answer in 1 s"):
        start("import time; time.sleep(60)", limit_s=1)


def test_greetings_of_a_library_are_no_answers():
    greets = "print('hello'); print('{}', flush=True); print('a'); print('{\"b\": 1}')"
    with start(greets) as worker:
        assert worker.ask(do="it") == {"b": 1}
