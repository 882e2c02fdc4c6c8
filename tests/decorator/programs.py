"""Recursive Python functions, to be decorated, or to run as they are.

Each `define_...` takes a decorator. With `plain` it gives a function that Python runs
by itself: what the decorated one is compared with.
"""

from tests.decorator.branches import BRANCHES
from tests.decorator.functions import FUNCTIONS
from tests.decorator.loops import LOOPS

__all__ = ["BRANCHES", "FUNCTIONS", "LOOPS", "plain"]


def plain(function):
    return function
