"""A program that computes, beside what another one does, how that changes."""

from collections.abc import Mapping, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.effects import effect_within
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tangent.tangent_form import TangentForm
from recursive_tf.python.tf_compat import AtomicFunction, FuncGraph


class TangentProgram:
    """The derivative of a program in one direction, which is a program like any other.

    It takes, after each floating-point argument, its tangent; and behind the captures
    the tangents of those that change. It returns a tangent after each floating-point
    result, and so it is with tables. Call sites are the same.

    Attributes:
        procedures: As those of the program.
        captures: Which captures each procedure takes. The tangents are numbered after
            the captures of the program.

    Args:
        graphs: The closed procedures of the program.
        capture_indices: Which captures of the program the last arguments of each are.
        changing: The captures that change, and what their tangents are.
        rows: What is pushed to each table.
        num_captures: How many the program has.

    Raises:
        NotImplementedError: If a derivative is not known, or the program has an effect:
            it runs once more.
    """

    def __init__(
        self,
        graphs: Sequence[FuncGraph],
        capture_indices: Sequence[Sequence[int]],
        changing: Mapping[int, tf.TensorSpec],
        rows: Sequence[tf.TensorSpec],
        num_captures: int,
    ) -> None:
        _check_no_effect(graphs)
        self.procedures: list[AtomicFunction] = []
        self.captures: list[list[int]] = []
        form = TangentForm(slots_with_tangents(rows))
        places = {index: num_captures + i for i, index in enumerate(changing)}
        for graph, indices in zip(graphs, capture_indices, strict=True):
            made = form.procedure_of(graph, indices, changing)
            self.procedures.append(tf_compat.make_function(made))
            self.captures.append(
                [*indices, *(places[i] for i in indices if i in places)]
            )


def with_tangents(specs: Sequence[tf.TensorSpec]) -> list[tf.TensorSpec]:
    """Returns specs with that of a tangent after each floating-point one."""
    return [spec for spec in specs for _ in range(1 + is_trainable(spec.dtype))]


def slots_with_tangents(rows: Sequence[tf.TensorSpec]) -> list[tuple[int, int | None]]:
    """Returns where each table is among those that have tangents after them, and these.

    There are none for tables of what is not floating-point.
    """
    slots: list[tuple[int, int | None]] = []
    count = 0
    for row in rows:
        slots.append((count, count + 1 if is_trainable(row.dtype) else None))
        count += 1 + is_trainable(row.dtype)
    return slots


def _check_no_effect(graphs: Sequence[FuncGraph]) -> None:
    op = effect_within(graphs)
    if op is not None:
        raise NotImplementedError(
            f"The gradient of a gradient runs a SubGraph once more, and {op.type} "
            f"'{op.name}' at {tf_compat.op_traceback(op)} has an effect. Take it out "
            "of the SubGraph."
        )
