"""What the programs have in common."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

# The arguments of one call of a form.
Batch = tuple[Any, ...]
# Computes a batch: [rows, units], whose squares are the loss.
Form = Callable[..., tf.Tensor]
# Returns what a vertex pushes, of its h.
Result = Callable[[tf.Tensor], tf.Tensor]
FORMS = ("vertex", "subgraph")
VOCABULARY = 10_000


@dataclasses.dataclass(frozen=True)
class Program:
    """A program in two forms.

    Attributes:
        name: As in the paper.
        weights: Of a number of units.
        vertex: Of weights, the form with a vertex function.
        subgraph: The same, with a SubGraph.
        batches: From a folder of data, or None for generated data, the size of a batch
            and a count.
    """

    name: str
    weights: Callable[[int], tf.Module]
    vertex: Callable[[Any], Form]
    subgraph: Callable[[Any], Form]
    batches: Callable[[pathlib.Path | None, int, int], Sequence[Batch]]

    def forms(self, weights: tf.Module) -> dict[str, Form]:
        """Returns the forms, by name."""
        return {form: getattr(self, form)(weights) for form in FORMS}


def inference(form: Form) -> Any:
    """Returns what computes a batch."""
    return tf.function(form, autograph=False, reduce_retracing=True)


def training(form: Form, variables: Sequence[tf.Variable]) -> Any:
    """Returns what computes the gradients of a loss of a batch, and updates nothing."""

    def step(*batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(form(*batch) ** 2)
        return loss, tape.gradient(loss, variables)

    return tf.function(step, autograph=False, reduce_retracing=True)


def random_variable(seed: int, *shape: int) -> tf.Variable:
    """Returns a variable with which values stay about as large as they are."""
    values = tf.random.stateless_normal(shape, [seed, 0])
    return tf.Variable(values / tf.sqrt(float(shape[0])))


def parts_of(whole: Any, size: int) -> list[Batch]:
    """Returns batches of a forest, a tensor or a ragged tensor."""
    starts = range(0, int(whole.shape[0]), size)
    return [(whole[start : start + size],) for start in starts]


def product(x: tf.Tensor, kernel: tf.Variable) -> tf.Tensor:
    """Returns a row times a matrix."""
    return tf.linalg.matvec(kernel, x, transpose_a=True)


def pair_of(units: int) -> tuple[tf.TensorSpec, tf.TensorSpec]:
    """Returns the specs of h and c."""
    return tf.TensorSpec([units]), tf.TensorSpec([units])
