"""The decorator `rtf.subgraph`."""

from collections.abc import Callable
from typing import Any, overload

from recursive_tf.python.options import EXECUTORS, Options
from recursive_tf.python.subgraphs.decorator.decorated_function import DecoratedFunction
from recursive_tf.python.subgraphs.decorator.known_branch import register
from recursive_tf.python.subgraphs.decorator.subgraph_function import SubGraphFunction
from recursive_tf.python.subgraphs.memo import check_memo

register()


@overload
def subgraph(function: Callable[..., Any], /) -> SubGraphFunction: ...


@overload
def subgraph(
    *,
    executor: str | None = None,
    options: Options | None = None,
    memo: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], SubGraphFunction]: ...


def subgraph(
    function: Callable[..., Any] | None = None,
    /,
    *,
    executor: str | None = None,
    options: Options | None = None,
    memo: Callable[..., Any] | None = None,
) -> SubGraphFunction | Callable[[Callable[..., Any]], SubGraphFunction]:
    """Makes a SubGraph of a Python function that calls itself by its name.

    AutoGraph converts the function. So `if`, `while`, `for`, `and` and early `return`
    may depend on tensors. (`subgraph`, in lower case, is this decorator. `SubGraph`, in
    capitals, is the class that it makes objects of.)

    >>> @subgraph
    ... def fib(n):
    ...     if n < 2:
    ...         return n
    ...     return fib(n - 1) + fib(n - 2)
    >>> int(fib(10))
    55

    Args:
        function: The function. Annotations say what it takes and returns if they are
            specs, e.g. `tf.TensorSpec([3])`, or dtypes. Without annotations, the first
            call and the body say it. A function that is called only for what it pushes
            may return None.
        executor: As of a `SubGraph`.
        options: As of a `SubGraph`.
        memo: As of a `SubGraph`. It takes the same arguments as the function. Calls
            share only if their Python values and the types of their tensors are equal.

    Returns:
        The object to call in place of the function. Without `function`, a decorator.

    Raises:
        SubGraphError: If its annotations or parameters are wrong.
        TypeError: If it, or `memo`, is no Python function.
        ValueError: If there is no such executor.
    """
    if executor is not None and executor not in EXECUTORS:
        raise ValueError(f"executor={executor!r}: choose one of {EXECUTORS}.")
    check_memo(memo)
    choices: dict[str, Any] = {"options": options}
    if executor is not None:
        choices["executor"] = executor

    def decorate(function: Callable[..., Any]) -> SubGraphFunction:
        return SubGraphFunction(DecoratedFunction(function, choices, memo))

    return decorate if function is None else decorate(function)
