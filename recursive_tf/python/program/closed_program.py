"""A closed program: what a root op carries, and what it takes."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.captures import Capture
from recursive_tf.python.program.closed_graph import CALLS
from recursive_tf.python.program.effects import contains
from recursive_tf.python.program.lazy_pushes import LazyPush

# Ops of a body. As in cc/tf/rewrite_network.cc.
_FEWEST_OF_NETWORK = 200


@dataclasses.dataclass
class Push:
    """A table that the program's invocations push rows to.

    Attributes:
        name: For the user.
        row: The dtype and shape of a row.
        size_in: Returns the number of rows, computed in the default graph.
    """

    name: str
    row: tf.TensorSpec
    size_in: Callable[[Callable[[tf.Tensor], tf.Tensor]], tf.Tensor]


@dataclasses.dataclass
class Procedure:
    """One procedure of a closed program.

    Attributes:
        name: The SubGraph's, for errors.
        function: Takes an activation handle, the SubGraph's inputs, a key if it draws
            random numbers or calls one that does, hidden inputs (captures that are
            local to a calling procedure), and captures.
        captures: Which of the program's captures are the last arguments.
    """

    name: str
    function: tf_compat.AtomicFunction
    captures: list[int]


@dataclasses.dataclass
class Program:
    """A closed program; the root call invokes the first procedure.

    Attributes:
        procedures: In the order of their indices.
        captures: What all invocations see.
        pushes: The tables.
        only_reads: Whether nothing in it has an effect that another op sees.
        takes_key: Whether the first procedure takes a key for random numbers.
        variables: What it reads.
        lazy: Pushes whose values are computed after the call, of some of the tables.
    """

    procedures: list[Procedure]
    captures: list[Capture]
    pushes: list[Push]
    only_reads: bool
    takes_key: bool
    variables: list[tf.Variable]
    lazy: list[LazyPush]

    def is_network(self) -> bool:
        """Says whether it is a network, i.e. many ops and no call among them.

        An invocation is all there is to one of its root calls. So there is nothing to
        batch, unless the root call is a map.
        """
        if len(self.procedures) > 1:
            return False
        ops = tf_compat.to_func_graph(self.procedures[0].function).get_operations()
        return len(ops) >= _FEWEST_OF_NETWORK and not any(
            contains(op, CALLS) for op in ops
        )
