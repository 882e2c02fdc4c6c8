"""What the branches of conditionals are called."""

import itertools
from collections.abc import Collection, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
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
    found = [_function_of(branch) for branch in branches]
    if "Case" in op.type:
        plain = [f"case {i}" for i in range(len(branches))]
    else:
        plain = ["false", "true"]
    names = [name or other for name, other in zip(found, plain, strict=True)]
    return names if len(set(names)) == len(names) else plain


def _function_of(branch: FuncGraph) -> str | None:
    copies = (op for op in branch.get_operations() if tf_compat.is_copy(op))
    first = next(copies, None)
    return None if first is None else tf_compat.branch_function_name(first)
