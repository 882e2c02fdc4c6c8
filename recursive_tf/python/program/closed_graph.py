"""The graph of a closed procedure: everything it uses is an argument."""

import tensorflow as tf

from recursive_tf.python import tf_compat

# What calls and pushes are in closed procedures. A call is of one invocation, of one
# for each row, or of the body of a memoized SubGraph by its front.
MAPS = frozenset(("RecursiveMap", "StatelessRecursiveMap"))
SHARED_CALLS = frozenset(("RecursiveSharedCall", "StatelessRecursiveSharedCall"))
CALLS = frozenset(("RecursiveCall", "StatelessRecursiveCall")) | MAPS | SHARED_CALLS
PUSHES = frozenset(("RecursivePush",))


class ClosedGraph(tf_compat.FuncGraph):
    """A procedure while a program is closed.

    Its arguments are an activation handle, the SubGraph's inputs, a key if it draws
    random numbers, hidden inputs, and captures of the program.

    Attributes:
        key: The argument that random numbers follow from, or None.
        hidden: The arguments that stand for captures of a procedure around it.
        capture_indices: Which captures of the program its last arguments are.
        num_sites: The number of call sites so far; their ids count up from 0.
        num_keys: The number of keys that were made of `key` so far.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.key: tf.Tensor | None = None
        self.hidden: dict[int, tf.Tensor] = {}
        self.capture_indices: list[int] = []
        self.num_sites = 0
        self.num_keys = 0
        self._arguments: dict[int, tf.Tensor] = {}

    def add_input(self, like: tf.Tensor) -> tf.Tensor:
        """Returns a new argument with the type of `like`."""
        name = like.op.name.rsplit("/", maxsplit=1)[-1]
        argument = tf_compat.placeholder_like(self, like, name)
        tf_compat.set_origin(argument.op, like.op)
        self.inputs.append(argument)
        return argument

    def add_key(self, spec: tf.TensorSpec) -> None:
        """Adds the argument that random numbers follow from."""
        self.key = tf_compat.placeholder_like(self, spec, "key")
        self.inputs.append(self.key)

    def capture_argument(
        self, index: int, like: tf.Tensor | tf.TensorSpec
    ) -> tf.Tensor:
        """Returns the argument for a capture of the program."""
        if index not in self._arguments:
            self._arguments[index] = tf_compat.placeholder_like(self, like)
        return self._arguments[index]

    def seal(self) -> None:
        """Puts the captures behind the other arguments."""
        assert not self.captures, "a closed procedure used an outer tensor"
        self.capture_indices = sorted(self._arguments)
        self.inputs.extend(self._arguments[i] for i in self.capture_indices)


def closed_graph_around(graph: tf.Graph) -> ClosedGraph:
    """Returns the procedure that `graph` is or is a part of."""
    for g in tf_compat.graph_chain(graph):
        if isinstance(g, ClosedGraph):
            return g
    raise AssertionError("There is no closed procedure here.")
