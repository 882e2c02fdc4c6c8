"""What stress tests share: an end to any hang."""

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
