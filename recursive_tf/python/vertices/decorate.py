"""The decorator `rtf.vertex`."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf  # noqa: F401  (for the doctest)

from recursive_tf.python.options import EXECUTORS, Options
from recursive_tf.python.vertices.definition import VertexDefinition
from recursive_tf.python.vertices.vertex_function import VertexFunction

# Nobody goes deeper than the graph is long, so there is nothing to bound.
_OPTIONS = Options(max_depth=None)


def vertex(
    function: Callable[..., Any] | None = None,
    /,
    *,
    state: Any = None,
    executor: str | None = None,
    options: Options | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], VertexFunction]:
    """Makes a function of one vertex a function of a graph that is data.

    The function takes a `Vertex`, `v`, and says what one vertex computes. It gathers
    the states of the vertex's in-neighbors, and scatters its own state, once. It pulls
    its row of the inputs of the call, and pushes a row of what the call returns.
    AutoGraph converts the function. It may use variables and layers from outside.

    - `v.gather(i)`: the state of the i-th in-neighbor, zeros if there is none;
      `v.gather()`: those of all, stacked.
    - `v.scatter(state)`: the vertex's own, of the structure of `state=`.
    - `v.pull()`: the vertex's row of the inputs.
    - `v.push(value)`, or `v.push(value, name=...)`: a row of what the call returns.
    - `v.index`, `v.num_inputs`: its number, and how many in-neighbors it has.

    >>> @vertex(state=tf.TensorSpec([]))
    ... def total(v):
    ...     below = tf.reduce_sum(v.gather())
    ...     v.scatter(below + v.pull())
    ...     v.push(below + v.pull())
    >>> graph = tf.ragged.constant([[], [], [0, 1], [2, 0]])
    >>> total(graph, tf.constant([1.0, 2.0, 3.0, 4.0])).numpy()
    array([ 1.,  2.,  6., 11.], dtype=float32)
    >>> total(graph, tf.constant([1.0, 2.0, 3.0, 4.0]), at=[2]).numpy()
    array([6.], dtype=float32)

    Source: Xu et al., "Cavs: An Efficient Runtime System for Dynamic Neural Networks",
    USENIX ATC 2018 (arXiv:1712.04048), section 3.1.

    Args:
        function: Nothing. It is what the decorator would be given without parentheses.
        state: What a vertex scatters: a structure of `tf.TensorSpec`s of known shapes,
            or dtypes, for scalars.
        executor: As of a `SubGraph`.
        options: As of a `SubGraph`; by default without a limit of depth.
        name: For errors and ops; default that of the function.

    Returns:
        A decorator, also of bound methods.

    Raises:
        SubGraphError: If `state` is not a structure of known shapes.
        TypeError: If what is decorated is no Python function, or `state` is left out,
            e.g. together with the parentheses.
        ValueError: If there is no such executor.
    """
    if function is not None or state is None:
        raise TypeError(
            "rtf.vertex needs state=, which says what a vertex scatters. Write "
            "@rtf.vertex(state=tf.TensorSpec([64])) above `def`, e.g., for a vector "
            "of 64 numbers."
        )
    if executor is not None and executor not in EXECUTORS:
        raise ValueError(f"executor={executor!r}: choose one of {EXECUTORS}.")
    choices: dict[str, Any] = {"options": options or _OPTIONS}
    if executor is not None:
        choices["executor"] = executor

    def decorate(function: Callable[..., Any]) -> VertexFunction:
        return VertexFunction(VertexDefinition(function, state, choices, name))

    return decorate
