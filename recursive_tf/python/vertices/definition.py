"""What a decorated vertex function consists of."""

import inspect
from collections.abc import Callable
from typing import Any

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.vertices.state import State
from recursive_tf.python.vertices.vertex import Vertex


class VertexDefinition:
    """A Python function of a vertex, and how it is to run.

    Args:
        function: The function, or a bound method.
        state: What it scatters, as `State` takes it.
        choices: What to pass to each SubGraph: its executor and options.
        name: For errors and ops; None is that of the function.

    Attributes:
        function: As given.
        state: What it scatters.
        choices: As given.
        name: As given.

    Raises:
        SubGraphError: If `state` is none.
        TypeError: If it is no Python function, or takes something else than a vertex.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        state: Any,
        choices: dict[str, Any],
        name: str | None,
    ) -> None:
        if not (inspect.isfunction(function) or inspect.ismethod(function)):
            raise TypeError(
                "rtf.vertex decorates a Python function, but this is "
                f"{function!r}. Put @rtf.vertex(state=...) directly above `def`, below "
                "other decorators; tf.function goes around what calls it."
            )
        self.function = function
        self.choices = choices
        self.name = name or function.__name__
        self.state = State(self.name, state)

    def run(self, instance: tuple[Any, ...], vertex: Vertex, *, convert: bool) -> Any:
        """Calls the function for a vertex, and returns what it scattered.

        Args:
            instance: A tuple of the instance whose method it is, or nothing.
            vertex: What it gets.
            convert: Whether AutoGraph converts it.

        Raises:
            SubGraphError: If it returns something, or scatters nothing.
        """
        function: Callable[..., Any] = self.function
        if convert:
            function = tf_compat.convert_by_autograph(function)
        returned = function(*instance, vertex)
        if returned is not None:
            raise SubGraphError(
                f"Vertex function '{self.name}' returns {returned!r:.200}, but a "
                "vertex function returns nothing. Hand states to other vertices with "
                "v.scatter(state), and results to the call with v.push(h)."
            )
        return vertex.scattered()

    def check_pulled(self, vertex: Vertex, inputs: Any) -> None:
        """Raises SubGraphError if there are inputs that nobody pulls."""
        if inputs is not None and not vertex.has_pulled:
            raise SubGraphError(
                f"Vertex function '{self.name}' is called with inputs, but does not "
                "pull. Take the vertex's row of them by v.pull(), or call "
                f"{self.name}(graph)."
            )
