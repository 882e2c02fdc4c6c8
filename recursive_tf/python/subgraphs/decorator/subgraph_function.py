"""`SubGraphFunction`: what `rtf.subgraph` makes of a Python function."""

import functools
from typing import Any

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.subgraphs.decorator import plain
from recursive_tf.python.subgraphs.decorator.arguments import Arguments
from recursive_tf.python.subgraphs.decorator.decorated_function import DecoratedFunction
from recursive_tf.python.subgraphs.decorator.tracing import (
    subgraph_being_traced,
    subgraph_for,
)
from recursive_tf.python.subgraphs.subgraph import SubGraph
from recursive_tf.python.subgraphs.tracebacks import called_by_users


class SubGraphFunction:
    """A Python function whose calls run as a recursive SubGraph.

    It is traced to a `SubGraph` for each signature that it is called with: dtypes,
    shapes and structure of tensors, and Python values that are none. As an attribute of
    a class it is a method.

    Thread safety: all of it.

    Args:
        function: What it calls.
        instance: A tuple of the instance whose method it is, or nothing.
    """

    def __init__(
        self, function: DecoratedFunction, instance: tuple[Any, ...] = ()
    ) -> None:
        self._function = function
        self._instance = instance
        functools.update_wrapper(self, function.function)
        self.__signature__ = function.parameters.signature(left_out=len(instance))

    def __get__(self, instance: Any, owner: type | None = None) -> "SubGraphFunction":
        """Returns the method of an instance."""
        if instance is None or self._instance:
            return self
        return SubGraphFunction(self._function, (instance,))

    @property
    def __func__(self) -> DecoratedFunction:
        """What methods of all instances share, as that of Python's methods."""
        return self._function

    @property
    def __self__(self) -> Any:
        """The instance whose method it is."""
        if not self._instance:
            raise AttributeError(f"{self!r} is not the method of an instance.")
        return self._instance[0]

    @called_by_users
    def __call__(self, *args: Any, with_pushed: bool = False, **kwargs: Any) -> Any:
        """Invokes the function.

        Inside of a body this adds a call site. Elsewhere it is the root call. After
        `tf.config.run_functions_eagerly(True)` it calls the Python function.

        Args:
            *args: Of the function. Numbers and arrays are tensors.
            with_pushed: At the root, return pushed values too.
            **kwargs: Of the function.

        Returns:
            What the function returns, its leaves tensors; with `with_pushed`, that and
            a dict from names to tables `[size, ...]`.

        Raises:
            SubGraphError: If arguments do not fit, or the function cannot be traced.
            tf.errors.OpError: When it runs, if an invocation fails.
        """
        arguments = self._split(args, kwargs)
        if plain.is_wanted():
            return plain.call(
                self._function, arguments, mapped=False, with_pushed=with_pushed
            )
        subgraph = subgraph_for(self._function, arguments)
        return subgraph(*arguments.tensors, with_pushed=with_pushed)

    @called_by_users
    def map(self, *args: Any, with_pushed: bool = False, **kwargs: Any) -> Any:
        """Invokes the function once for each row of the tensors among its arguments.

        Args:
            *args: Of the function, each tensor with a dimension of rows in front.
                Variables, and lists of numbers or of texts, are tensors. A text, like
                other Python values, is the same for all rows.
            with_pushed: Return pushed values too.
            **kwargs: Of the function.

        Returns:
            As a call, each tensor `[rows, ...]`.

        Raises:
            SubGraphError: As a call; also without tensors.
        """
        arguments = self._split(args, kwargs, mapped=True)
        if not arguments.tensors:
            raise SubGraphError(
                f"`.map` of SubGraph '{self._function.name}' gets no tensor, so it has "
                "no rows: a text, a flag, None and other Python values are the same "
                "for all of them. Pass a tensor, an array, or a list that is not empty."
            )
        if plain.is_wanted():
            return plain.call(
                self._function, arguments, mapped=True, with_pushed=with_pushed
            )
        subgraph = subgraph_for(self._function, arguments)
        return subgraph.map(*arguments.tensors, with_pushed=with_pushed)

    @called_by_users
    def push(self, name: str, value: Any, *, index: Any, size: Any) -> None:
        """Hands a value of every invocation to the root call, one row each.

        As `SubGraph.push`, in the body of this function.

        Args:
            name: Of the table. All functions of a program share these names.
            value: A tensor, `[...]`.
            index: An integer scalar: the row, different in every invocation.
            size: The number of rows. It must not depend on an argument.

        Raises:
            SubGraphError: Outside of the body.
        """
        if plain.push(name, value, index, size):
            return
        subgraph = subgraph_being_traced(self._function)
        if subgraph is None:
            raise SubGraphError(
                f"`.push` of SubGraph '{self._function.name}' is called outside of its "
                f"body. Call it in the function '{self._function.name}'."
            )
        subgraph.push(name, value, index=index, size=size)

    @called_by_users
    def subgraph_for(self, *args: Any, **kwargs: Any) -> SubGraph:
        """Returns the SubGraph that a call would invoke, e.g. for `rtf.explain`.

        Args:
            *args: Of the function; a `tf.TensorSpec` stands for a tensor.
            **kwargs: Of the function.
        """
        return subgraph_for(self._function, self._split(args, kwargs))

    @property
    def subgraphs(self) -> list[SubGraph]:
        """The SubGraphs that it was traced to so far, of eager calls.

        Each says what it takes, returns and uses: see `SubGraph.inputs`, `outputs`,
        `captures`, `variables` and `signature`.
        """
        return self._function.traces.subgraphs()

    def __repr__(self) -> str:
        """Returns the name."""
        return f"<rtf.subgraph '{self._function.name}'>"

    def _split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, mapped: bool = False
    ) -> Arguments:
        args = (*self._instance, *args)
        return self._function.parameters.split(args, kwargs, mapped=mapped)
