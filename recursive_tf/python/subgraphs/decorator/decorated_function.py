"""A decorated Python function: what all SubGraphs that are made of it share."""

import inspect
from collections.abc import Callable
from typing import Any

from recursive_tf.python import tf_compat
from recursive_tf.python.subgraphs.decorator.annotations import RETURN
from recursive_tf.python.subgraphs.decorator.arguments import Arguments
from recursive_tf.python.subgraphs.decorator.outputs import Outputs
from recursive_tf.python.subgraphs.decorator.parameters import Parameters
from recursive_tf.python.subgraphs.decorator.traces import Traces
from recursive_tf.python.subgraphs.subgraph import SubGraph


class DecoratedFunction:
    """A Python function, its parameters, and the SubGraphs it was traced to.

    Args:
        function: The function, or a bound method.
        choices: What to pass to each SubGraph: its executor and options.
        memo: Gives the key of a call's arguments, if there is one.

    Attributes:
        function: As given.
        name: Of the SubGraphs.
        parameters: What the function takes.
        outputs: What an annotation says that it returns.
        traces: The SubGraphs.

    Raises:
        TypeError: If it is no Python function.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        choices: dict[str, Any],
        memo: Callable[..., Any] | None = None,
    ) -> None:
        if not (inspect.isfunction(function) or inspect.ismethod(function)):
            raise TypeError(
                "rtf.subgraph decorates a Python function, but this is "
                f"{function!r}. Put @rtf.subgraph directly above `def`, below other "
                "decorators; tf.function goes around what calls it."
            )
        self.function = function
        self.name = function.__name__
        self.parameters = Parameters(function, self.name)
        returns = self.parameters.specs.get(RETURN)
        self.outputs = Outputs(self.name, returns, are_declared=returns is not None)
        self.traces = Traces()
        self._choices = choices
        self._memo = memo

    def new_subgraph(self, outputs: Any, arguments: Arguments) -> SubGraph:
        """Returns a SubGraph to define.

        Args:
            outputs: What it returns, if that is known.
            arguments: Of a call that it is for.
        """
        choices = dict(self._choices)
        if self._memo is not None:
            choices["memo"] = lambda *tensors: self.key_of(arguments.values(tensors))
        return SubGraph(self.name, output_signature=outputs, **choices)

    @property
    def is_memoized(self) -> bool:
        """Whether calls with the same key share what they return."""
        return self._memo is not None

    def key_of(self, values: list[Any]) -> Any:
        """Returns the key of a call, by the values of its parameters."""
        assert self._memo is not None
        return self.parameters.call(self._memo, values)

    def call_converted(self, values: list[Any]) -> Any:
        """Calls the function, converted by AutoGraph, with values of its parameters."""
        converted = tf_compat.convert_by_autograph(self.function)
        return self.parameters.call(converted, values)

    def call_as_it_is(self, values: list[Any]) -> Any:
        """Calls the function with values of its parameters."""
        return self.parameters.call(self.function, values)
