"""Random recursive programs with branches that must not run.

What stands in them divides by zero, takes roots and logarithms of what is not positive,
inverts singular matrices, or looks up what is not there. A program is text, which runs
in two ways: unrolled, with conditions and loops of Python and calls that are inlined,
where nothing runs that is not taken; and as a SubGraph.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

# Conditions, and what only works where they hold. In each program most of them do not.
HAZARDS = (
    ("k > 0", "x / tf.cast(100 // k, tf.float32)"),
    ("k > 0", "x * tf.cast(tf.math.floormod(7, k), tf.float32)"),
    ("k > 0", "tf.gather(w, tf.cast(9 // k, tf.int32) % 3)"),
    ("k > 0", "x / tf.cast(k, tf.float32)"),
    ("k > 0", "x * tf.reduce_mean(w[:k])"),
    ("j < 3", "x + tf.gather(w, j)"),
    ("j < 3", "x * w[j]"),
    ("z > 0.0", "tf.sqrt(z)"),
    ("z > 0.0", "x * tf.math.log(z)"),
    ("z > 0.0", "x / z"),
    ("z > 0.0", "tf.tanh(x * tf.sqrt(z))"),
    ("z > 0.0", "tf.reduce_sum(w / tf.norm(z * w))"),
    ("z > 0.0", "tf.reduce_sum(tf.linalg.matvec(e / z, w * x))"),
    ("z > 0.0", "x * tf.reduce_sum(tf.linalg.inv(z * e))"),
    ("x > 0.0", "tf.sqrt(x)"),
    ("x > 0.0", "z * tf.math.log(x)"),
    ("x > 0.0", "tf.math.rsqrt(x) + x"),
    ("x > 0.0 or x < 0.0", "1.0 / (3.0 * x)"),
    ("n > 0", "x * tf.cast(6 // n, tf.float32)"),
    ("n < 3", "x + tf.gather(w, n)"),
)
SAFE = ("x", "0.5 * x", "tf.tanh(x)", "w[1]", "0.25", "x + z", "tf.reduce_sum(w) * x")
# What calls get. Where they are not made, rows may be infinite.
ARGUMENTS = ("x * z", "0.5 * x", "x + z", "tf.tanh(x)", "x - w[0]", "z * w[2] + x")
# The same, of what only works where a call is made: for n > 0.
RISKY_ARGUMENTS = (
    "x / tf.cast(n, tf.float32)",
    "x * tf.cast(6 // n, tf.float32)",
    "x * tf.math.rsqrt(tf.cast(n, tf.float32))",
    "x + tf.gather(w, tf.minimum(n - 1, 2))",
)


def draw_program(seed: int) -> str:
    """Returns the text of a body: an expression of what `Names` names."""
    drawing = _Drawing(random.Random(seed))
    return drawing.recursion(3) if seed % 3 == 0 else drawing.expression(3)


class _Drawing:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._calls_left = 2

    def expression(self, depth: int) -> str:
        kinds: list[Callable[[int], str]] = [self._guarded] * 3
        kinds += [self._sum, self.recursion, self._loop, self._items, self._choice]
        if depth == 0:
            return self._chance.choice(SAFE)
        return self._chance.choice([*kinds, self._shared])(depth - 1)

    def _sum(self, depth: int) -> str:
        return f"({self.expression(depth)} + {self.expression(depth)})"

    def _guarded(self, depth: int) -> str:
        guard, hazard = self._chance.choice(HAZARDS)
        if " or " in guard:
            guard = f"tf.logical_or({', '.join(guard.split(' or '))})"
        other = self.expression(depth)
        if self._chance.random() < 0.3:
            hazard = f"{hazard} + {self.expression(depth)}"
        return f"cond({guard}, lambda: {hazard}, lambda: {other})"

    def recursion(self, depth: int) -> str:
        if not self._calls_left:
            return self.expression(depth)
        self._calls_left -= 1
        argument = self._argument(depth)
        other = self.expression(depth)
        more = f"f(n - 1, {argument}) + {self._chance.choice(ARGUMENTS)}"
        return f"cond(n > 0, lambda: {more}, lambda: {other})"

    def _argument(self, depth: int) -> str:
        if depth and self._chance.random() < 0.4:
            return self.expression(depth - 1)
        return self._chance.choice(ARGUMENTS + 2 * RISKY_ARGUMENTS)

    def _loop(self, depth: int) -> str:
        turns = self._chance.choice(("n", "k", "2", "n - 1"))
        return f"loop({turns}, lambda x: {self.expression(depth)}, x)"

    def _items(self, depth: int) -> str:
        if not self._calls_left:
            return self.expression(depth)
        self._calls_left -= 1
        return f"items(n, {self._chance.choice(('x', 'x * z', '0.5 * x'))})"

    def _choice(self, depth: int) -> str:
        guard, hazard = self._chance.choice([h for h in HAZARDS if " or " not in h[0]])
        index = f"tf.where({guard}, 0, 1 + n % 2)"
        others = f"lambda: {self.expression(depth)}, lambda: {self.expression(depth)}"
        return f"switch({index}, [lambda: {hazard}, {others}])"

    def _shared(self, depth: int) -> str:
        del depth
        return "shared(n)"


# What `shared` computes: it has no differentiable input.
_SHARED = (
    "cond(z > 0.0, lambda: tf.sqrt(z) + w[0], lambda: w[1] * tf.cast(n, tf.float32))"
)


@dataclasses.dataclass
class Data:
    """What a program is run with: an n and an x for each row, and captures."""

    n: list[int]
    x: list[float]
    k: int
    j: int
    z: float


def draw_data(seed: int) -> Data:
    """Returns data for which many branches must not run."""
    chance = random.Random(seed)
    count = chance.choice((0, 1, 3, 3))
    return Data(
        n=[chance.choice((0, 1, 2, 3)) for _ in range(count)],
        x=[chance.choice((-1.0, 0.0, 0.5, 2.0)) for _ in range(count)],
        k=chance.choice((0, 0, 0, 2)),
        j=chance.choice((7, 7, -3, 1)),
        z=chance.choice((0.0, 0.0, -1.0, 0.5)),
    )


def run(text: str, data: Data, executor: str | None) -> dict[str, np.ndarray]:
    """Returns values and gradients; with no executor, those of the unrolled program."""
    captures = {
        "k": tf.Variable(data.k),
        "j": tf.Variable(data.j),
        "z": tf.Variable(data.z),
        "w": tf.Variable([0.3, -0.7, 1.1]),
        "e": tf.constant(np.eye(3, dtype=np.float32)),
    }
    n, x = tf.constant(data.n, tf.int32), tf.constant(data.x, tf.float32)
    define = _unrolled if executor is None else _as_subgraph
    rows = define(text, captures, executor)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = rows(n, x)
        sources = {"x": x, "z": captures["z"], "w": captures["w"]}
        total = tf.reduce_sum(y)
    found = tape.gradient(total, sources)
    dense = {
        name: np.zeros(sources[name].shape) if g is None else tf.convert_to_tensor(g)
        for name, g in found.items()
    }
    return {"y": y.numpy(), **{name: np.asarray(g) for name, g in dense.items()}}


def _body(text: str, names: dict[str, Any]) -> Callable[..., Any]:
    def body(n: Any, x: Any, **own: Any) -> Any:
        scope = {"tf": tf, **names, **own, "n": n, "x": x}
        return eval(text, scope)

    return body


def _unrolled(text: str, captures: dict[str, Any], _: None) -> Callable[..., Any]:
    def loop(turns: Any, step: Any, x: Any) -> Any:
        for _ in range(int(turns)):
            x = step(x)
        return x

    def items(n: Any, x: Any) -> Any:
        each = [f(tf.constant(i), x * float(i)) for i in range(int(n))]
        return tf.add_n(each) if each else tf.constant(0.0)

    names = {
        **captures,
        "cond": lambda p, then, other: then() if bool(p) else other(),
        "loop": loop,
        "items": items,
        "switch": lambda index, branches: branches[int(index)](),
        "shared": lambda n: _body(_SHARED, names)(n, None),
    }
    body = _body(text, names)

    def f(n: Any, x: Any) -> Any:
        return body(n, x, f=f)

    def rows(n: Any, x: Any) -> Any:
        if not n.shape[0]:
            return tf.zeros([0])
        return tf.stack([f(n[i], x[i]) for i in range(n.shape[0])])

    return rows


def _as_subgraph(
    text: str, captures: dict[str, Any], executor: str
) -> Callable[..., Any]:
    def loop(turns: Any, step: Any, x: Any) -> Any:
        def turn(i: Any, x: Any) -> tuple[Any, Any]:
            return i + 1, step(x)

        return tf.while_loop(lambda i, _: i < turns, turn, (0, x))[1]

    names = {**captures, "cond": tf.cond, "loop": loop, "switch": tf.switch_case}
    with rtf.SubGraph("shared", memo=lambda n: n, executor=executor) as shared:
        n = shared.input(tf.int32)
        shared.output(_body(_SHARED, names)(n, None))
    spec = tf.TensorSpec([])
    with rtf.SubGraph("f", executor=executor, output_signature=spec) as f:
        n, x = f.input(tf.int32), f.input(tf.float32)

        def items(n: Any, x: Any) -> Any:
            each = tf.range(n)
            return tf.reduce_sum(f.map(each, x * tf.cast(each, tf.float32)))

        f.output(_body(text, names)(n, x, f=f, items=items, shared=shared))

    return f.map
