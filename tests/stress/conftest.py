"""What stress tests share: threads whose failures count, and an end to any hang."""

import concurrent.futures
import faulthandler
import sys

import pytest

SECONDS_A_TEST = 600


@pytest.fixture(autouse=True)
def no_hang():
    """Ends a process that hangs, with the stacks of its threads.

    A deadlock holds threads that nothing can interrupt, so the test cannot just fail.
    """
    faulthandler.dump_traceback_later(SECONDS_A_TEST, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def in_threads():
    """Returns a function that runs `work(i)` in `count` threads, to a list."""

    def run(work, count):
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            return list(pool.map(work, range(count)))

    return run
