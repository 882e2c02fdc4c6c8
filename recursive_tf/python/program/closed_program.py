"""A closed program: what a root op carries, and what it takes."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from recursive_tf.python import tf_compat


@dataclasses.dataclass
class Capture:
    """A value of the outside that the program uses.

    Attributes:
        external: The outer tensor, or the handle of an outer resource.
        value_read: If the program uses what the variable behind `external` holds: what
            that is. A program that only reads gets it read once a root call.
    """

    external: tf.Tensor
    value_read: tf.TensorSpec | None


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
        function: Takes an activation handle, the SubGraph's inputs, hidden inputs
            (captures that are local to a calling procedure), and captures.
        captures: Which of the program's captures are the last arguments.
    """

    name: str
    function: tf_compat.AtomicFunction
    captures: list[int]


@dataclasses.dataclass
class Program:
    """A closed program; the root call invokes the first procedure."""

    procedures: list[Procedure]
    captures: list[Capture]
    pushes: list[Push]
    only_reads: bool
    variables: list[tf.Variable]
