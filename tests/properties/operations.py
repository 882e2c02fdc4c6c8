"""What random programs compute with: Python text, NumPy's value, and its derivative.

All are bounded by their arguments, and none fails. A float is as exact as NumPy has it,
whatever its dtype in the program. All but those of complex numbers take a float with an
imaginary part, too, for the complex step in `expectation.py`. Where a small error would
make another program, as where a float is compared, the oracle says `Ambiguous` and the
case is not taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.properties.syntax import INTEGERS, Type

Array = np.ndarray[Any, Any]

MARGIN = 1e-3  # What is nearer to the point where it matters is ambiguous.
# No multiple of 1/64, as data are, is near to one that matters.
THRESHOLD, SCALE = 0.1375, 4.03


class Ambiguous(Exception):  # noqa: N818  # It is no error.
    """A float stands where its last digits decide."""


@dataclasses.dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        text: Python, with {0}, {1}, ... for the arguments, {all} for all of them,
            {dtype} for the result's, and {n} for the rows of the first argument.
        value: Of a result type and arrays.
        derivative: From the cotangent of the result, the result and the arguments to
            their cotangents, before broadcasting is undone; None if there is none.
    """

    text: str
    value: Callable[..., Array]
    derivative: Callable[..., list[Any]] | None = None


def _plain(function: Callable[..., Any]) -> Callable[..., Array]:
    return lambda _, *args: np.asarray(function(*args))


def _cast(result: Type, x: Array) -> Array:
    if result.dtype == "bool":
        return x.astype(bool)
    if result.dtype in INTEGERS:
        return x.astype(np.int64)
    return x if x.dtype.kind == "c" else x.astype(np.float64)


def _above(_: Type, x: Array) -> Array:
    x = x.real
    if np.any(np.abs(x - THRESHOLD) < MARGIN):
        raise Ambiguous
    return x > THRESHOLD


def _truncate(_: Type, x: Array) -> Array:
    scaled = SCALE * x.real
    nearest = np.round(scaled)
    if np.any((np.abs(scaled - nearest) < MARGIN) & (nearest != 0)):
        raise Ambiguous
    return np.trunc(scaled).astype(np.int64)


def _lookup(table: Array, row: Array) -> Array:
    return table[row % len(table)]


def _lookup_derivative(g: Array, _: Array, table: Array, row: Array) -> list[Any]:
    return _row_derivative(g, _, table, row % len(table))


def _row_derivative(g: Array, _: Array, table: Array, row: Array) -> list[Any]:
    result = np.zeros(table.shape, np.result_type(table, g))
    result[row] = g
    return [result, None]


def _concat_derivative(g: Array, _: Array, x: Array, y: Array) -> list[Any]:
    return [g[: len(x)], g[len(x) :]]


def _wide_derivative(g: Array, _: Array, w: Array, x: Array, y: Array) -> list[Any]:
    both = w.T @ g
    return [np.outer(g, np.concatenate([x, y])), both[: len(x)], both[len(x) :]]


def _wide(w: Array, x: Array, y: Array) -> Array:
    return w @ np.concatenate([x, y])


def _of(text: str, value: Any, derivative: Any = None) -> Operation:
    return Operation(text, _plain(value), derivative)


SQUASHING = {
    "tanh": _of("tf.tanh({0})", np.tanh, lambda g, y, x: [g * (1 - y * y)]),
    "sin": _of("tf.sin({0})", np.sin, lambda g, y, x: [g * np.cos(x)]),
    "sigmoid": _of(
        "tf.sigmoid({0})",
        lambda x: 0.5 * np.tanh(0.5 * x) + 0.5,
        lambda g, y, x: [g * y * (1 - y)],
    ),
}

ELEMENTWISE = {
    "add": _of("({0} + {1})", np.add, lambda g, z, x, y: [g, g]),
    "subtract": _of("({0} - {1})", np.subtract, lambda g, z, x, y: [g, -g]),
    "multiply": _of("({0} * {1})", np.multiply, lambda g, z, x, y: [g * y, g * x]),
    "negative": _of("(-{0})", np.negative, lambda g, y, x: [-g]),
    "stop_gradient": _of("tf.stop_gradient({0})", lambda x: x),
    "slanted": _of(
        "slanted({0})", lambda x: x, lambda g, y, x: [0.5 * g * np.cos(3 * x)]
    ),
    "steady": _of("steady({0})", np.sin, lambda g, y, x: [g * np.cos(x)]),
    "where": _of(
        "tf.where({0}, {1}, {2})",
        np.where,
        lambda g, z, p, x, y: [None, np.where(p, g, 0), np.where(p, 0, g)],
    ),
    "cast": Operation("tf.cast({0}, tf.{dtype})", _cast, lambda g, y, x: [g]),
}

SHAPING = {
    "sum": _of(
        "tf.reduce_sum({0})", np.sum, lambda g, y, x: [np.broadcast_to(g, x.shape)]
    ),
    "mean": _of(
        "tf.reduce_mean({0})",
        np.mean,
        lambda g, y, x: [np.broadcast_to(g / x.size, x.shape)],
    ),
    "sum_rows": _of(
        "tf.reduce_sum({0}, 0)",
        lambda x: np.sum(x, 0),
        lambda g, y, x: [np.broadcast_to(g, x.shape)],
    ),
    "stack": _of("tf.stack([{all}])", lambda *x: np.stack(x), lambda g, y, *x: list(g)),
    "concat": _of(
        "tf.concat([{0}, {1}], 0)",
        lambda x, y: np.concatenate([x, y]),
        _concat_derivative,
    ),
    "halves": _of(
        "tf.add_n(tf.split(tf.concat([{0}, {1}], 0), 2))",
        np.add,
        lambda g, z, x, y: [g, g],
    ),
    "flatten": _of(
        "tf.reshape({0}, [-1])", np.ravel, lambda g, y, x: [g.reshape(x.shape)]
    ),
    "transpose": _of("tf.transpose({0})", np.transpose, lambda g, y, x: [g.T]),
    "pick": _of("tf.gather({0}, {1} % {n})", _lookup, _lookup_derivative),
    "row": _of("tf.gather({0}, {1})", lambda t, i: t[i], _row_derivative),
}


def _times_vector(text: str) -> Operation:
    return _of(text, np.matmul, lambda g, y, w, x: [np.outer(g, x), w.T @ g])


def _vector_times(text: str) -> Operation:
    return _of(text, lambda w, x: x @ w, lambda g, y, w, x: [np.outer(x, g), w @ g])


PRODUCTS = {
    "matvec": _times_vector("tf.linalg.matvec({0}, {1})"),
    "einsum": _times_vector("tf.einsum('ij,j->i', {0}, {1})"),
    "transposed": _vector_times("tf.linalg.matvec({0}, {1}, transpose_a=True)"),
    "row_product": _vector_times("tf.matmul({1}[tf.newaxis], {0})[0]"),
    "wide": _of(
        "tf.linalg.matvec({0}, tf.concat([{1}, {2}], 0))", _wide, _wide_derivative
    ),
    "matmul": _of(
        "tf.matmul({0}, {1})", np.matmul, lambda g, z, x, y: [g @ y.T, x.T @ g]
    ),
    "outer": _of(
        "tf.tensordot({0}, {1}, 0)", np.outer, lambda g, z, x, y: [g @ y, g.T @ x]
    ),
}

DISCRETE = {
    "add_mod": _of("(({0} + {1}) % 7)", lambda x, y: (x + y) % 7),
    "multiply_mod": _of("(({0} * {1}) % 5)", lambda x, y: (x * y) % 5),
    "minus_one": _of("({0} - 1)", lambda x: x - 1),
    "mod_three": _of("({0} % 3)", lambda x: x % 3),
    "size": _of("(tf.size({0}) % 7)", lambda x: x.size % 7),
    "truncate": Operation(f"tf.cast({SCALE} * {{0}}, tf.{{dtype}})", _truncate),
    "less": _of("({0} < {1})", np.less),
    "equal": _of("tf.equal({0}, {1})", np.equal),
    "above": Operation(f"({{0}} > {THRESHOLD})", _above),
    "any": _of("tf.reduce_any({0})", np.any),
    "and": _of("tf.logical_and({0}, {1})", np.logical_and),
    "not": _of("tf.logical_not({0})", np.logical_not),
}


def _draw(kind: Type, seed: Array) -> Array:
    """Returns the number that TensorFlow draws: how, is not what is tested."""
    import tensorflow as tf

    drawn = tf.random.stateless_uniform([], [int(seed), 7], dtype=kind.dtype)
    return np.asarray(drawn, np.float64)


DRAWING = {
    "draw": Operation(
        "tf.random.stateless_uniform([], tf.stack([{0}, 7]), dtype=tf.{dtype})", _draw
    ),
}


def _bend(z: Array) -> Array:
    return np.tanh(z.real) + 1j * np.sin(z.imag)


def _bend_derivative(g: Array, y: Array, z: Array) -> list[Array]:
    return [g.real * (1 - y.real**2) + 1j * g.imag * np.cos(z.imag)]


# A cotangent is how the loss grows with the real part, and i times with the other one.
OF_COMPLEX = {
    "complex": _of(
        "tf.complex({0}, {1})",
        lambda x, y: x + 1j * y,
        lambda g, z, x, y: [g.real, g.imag],
    ),
    "real": _of("tf.math.real({0})", np.real, lambda g, x, z: [g + 0j]),
    "imag": _of("tf.math.imag({0})", np.imag, lambda g, x, z: [1j * g]),
    "conj": _of("tf.math.conj({0})", np.conj, lambda g, y, z: [np.conj(g)]),
    "turn": _of(
        "({0} * {1})", np.multiply, lambda g, z, x, y: [g * np.conj(y), g * np.conj(x)]
    ),
    "bend": _of(
        "tf.complex(tf.tanh(tf.math.real({0})), tf.sin(tf.math.imag({0})))",
        _bend,
        _bend_derivative,
    ),
    "dot": _of(
        "tf.linalg.matvec({0}[tf.newaxis], {1})[0]",
        np.dot,
        lambda g, z, x, y: [g * np.conj(y), g * np.conj(x)],
    ),
}

OPERATIONS = {
    **SQUASHING,
    **ELEMENTWISE,
    **SHAPING,
    **PRODUCTS,
    **DISCRETE,
    **DRAWING,
    **OF_COMPLEX,
}
