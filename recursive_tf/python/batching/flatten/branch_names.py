"""What the branches of conditionals are called."""

import itertools
from collections.abc import Collection, Sequence

import tensorflow as tf

from recursive_tf.python.program.graph_copy import branch_function
from recursive_tf.python.tf_compat import FuncGraph


def unique_among(taken: Collection[str], name: str) -> str:
    """Returns `name`, or with a number behind it what is not taken.

    >>> unique_among(["fib"], "fib")
    'fib (2)'
    """
    numbered = (f"{name} ({i})" for i in itertools.count(2))
    return next(n for n in itertools.chain([name], numbered) if n not in taken)


def branch_names(op: tf.Operation, branches: Sequence[FuncGraph]) -> list[str]:
    """Returns the names of the functions that a conditional chooses from, by number.

    Where they have none, e.g. lambdas, "false" and "true", or "case 0", "case 1", ...
    """
    found = [branch_function(branch) for branch in branches]
    if "Case" in op.type:
        plain = [f"case {i}" for i in range(len(branches))]
    else:
        plain = ["false", "true"]
    names = [name or other for name, other in zip(found, plain, strict=True)]
    return names if len(set(names)) == len(names) else plain
