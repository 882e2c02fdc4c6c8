"""`Vertex`: the argument of a vertex function, with the four verbs of Cavs."""

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.vertices.graphs import NONE
from recursive_tf.python.vertices.links import Links
from recursive_tf.python.vertices.pushes import Pushes, PushRow
from recursive_tf.python.vertices.state import State


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What a vertex is in.

    Attributes:
        links: The graph's.
        inputs: What vertices pull: a structure of tensors, or None.
        state_of: Returns the state of a vertex, by its number.
        states_of: Returns the states of several, stacked.
        push_row: Pushes a row of a table.
        check_here: Raises, for a verb, if it is used where it cannot be.
    """

    links: Links
    inputs: Any
    state_of: Callable[[tf.Tensor], Any]
    states_of: Callable[[tf.Tensor], Any]
    push_row: PushRow
    check_here: Callable[[str], None]


class Vertex:
    """One vertex of a graph: the argument of a function that `rtf.vertex` decorates.

    Its methods are the four verbs of Cavs. States go along the edges of the graph, from
    `scatter` to `gather`. Values from outside come in by `pull`, and values for the
    outside go out by `push`.

    Source: Xu et al., "Cavs: An Efficient Runtime System for Dynamic Neural Networks",
    USENIX ATC 2018 (arXiv:1712.04048), section 3.1.
    """

    def __init__(
        self,
        name: str,
        index: tf.Tensor,
        state: State,
        pushes: Pushes,
        surroundings: Surroundings,
    ) -> None:
        """Is made by a vertex function, which hands it to the Python function."""
        self._name = name
        self._index = index
        self._state = state
        self._pushes = pushes
        self._around = surroundings
        self._scattered: list[Any] = []
        self._gathers = False
        self.has_pulled = False

    @property
    def index(self) -> tf.Tensor:
        """The number of the vertex, an int32 scalar."""
        return self._index

    @property
    def num_inputs(self) -> tf.Tensor:
        """How many in-neighbors it has, an int32 scalar."""
        self._around.check_here("num_inputs")
        return tf.gather(self._around.links.counts(), self._index)

    def gather(self, i: int | None = None) -> Any:
        """Returns the state that an in-neighbor scattered, or those of all of them.

        Args:
            i: Which one, a Python integer; None is all of them.

        Returns:
            The structure of `state=`. Of one, each tensor is as declared, and zeros if
            the vertex has no i-th in-neighbor. Of all, each is [k, ...], in the order
            of the graph; k may be 0.

        Raises:
            SubGraphError: If `i` is no integer, or less than 0; or outside of the
                vertex function.
        """
        self._around.check_here("gather")
        self._gathers = True
        if i is None:
            return self._around.states_of(
                tf.gather(self._around.links.lists(), self._index)
            )
        if isinstance(i, bool) or not isinstance(i, int) or i < 0:
            raise SubGraphError(
                f"v.gather({i!r}) in vertex function '{self._name}': it takes which of "
                "the in-neighbors, an integer of Python, from 0. v.gather() returns "
                "the states of all of them, stacked, of which tf.gather takes one."
            )
        neighbor = tf.gather(self._around.links.slot(i), self._index)
        return tf.cond(
            tf.equal(neighbor, NONE),
            self._state.zeros,
            lambda: self._around.state_of(neighbor),
        )

    def scatter(self, state: Any) -> None:
        """Hands the vertex's state to all vertices that gather from it.

        Call it once, and not in a branch or a loop.

        Args:
            state: Of the structure, dtypes and shapes of `state=`.

        Raises:
            SubGraphError: The second time, in a branch, or if the state does not fit.
        """
        self._around.check_here("scatter")
        if self._scattered:
            raise SubGraphError(
                f"Vertex function '{self._name}' scatters twice. A vertex has one "
                "state: scatter all of it at once, e.g. v.scatter((h, c)), with state= "
                "of that structure."
            )
        self._scattered.append(self._state.checked(state))

    def pull(self) -> Any:
        """Returns the vertex's row of what the call was given from outside.

        Returns:
            The structure of the inputs, each tensor without its first dimension.

        Raises:
            SubGraphError: If the call was given none.
        """
        self._around.check_here("pull")
        self.has_pulled = True
        if self._around.inputs is None:
            raise SubGraphError(
                f"Vertex function '{self._name}' pulls, but is called with a graph "
                f"alone. Call {self._name}(graph, inputs), with a row for each vertex "
                "in each tensor of inputs; or leave out v.pull()."
            )
        return tf.nest.map_structure(
            lambda rows: tf.gather(rows, self._index), self._around.inputs
        )

    def push(self, value: Any, name: str | None = None) -> None:
        """Hands a value to the outside: a row of what the call returns.

        In a branch, the rows of vertices that do not push are zeros.

        Args:
            value: A tensor, or a structure of them.
            name: If the function pushes several values: the call returns a dict.

        Raises:
            SubGraphError: If some pushes have names and some do not.
            tf.errors.InvalidArgumentError: When it runs, if a vertex pushes twice.
        """
        self._around.check_here("push")
        self._pushes.add(name, value, self._around.push_row)

    def scattered(self) -> Any:
        """Returns what was scattered, once the function returned.

        Raises:
            SubGraphError: If nothing was.
        """
        if self._scattered:
            return self._scattered[0]
        why = (
            "gathers, but nothing scatters what it gathers"
            if self._gathers
            else "does not scatter, so that a vertex has no state"
        )
        raise SubGraphError(
            f"Vertex function '{self._name}' {why}. Call v.scatter(state) at its end, "
            "once."
        )

    def __repr__(self) -> str:
        """Names the function."""
        return f"<a vertex of '{self._name}'>"
