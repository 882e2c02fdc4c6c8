"""Writes small SavedModels of this version, which later versions have to load.

Usage: python -m tools.saved_models FOLDER, e.g. tests/saving/fixtures/0.1. Beside them
is `expected.json`: by model, what each call gave. tests/saving/test_upgrades.py loads
all folders that there are. So when the encoding of plans or the ops change, a folder of
the version before stays, and one of the new version comes beside it.
"""

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

import recursive_tf as rtf

SIGNATURE = [tf.TensorSpec([None], tf.int32)]


def tree(executor: str, w: tf.Variable) -> Any:
    """Returns a recursion of two calls, which looks up and multiplies."""
    spec = tf.TensorSpec([2])
    with rtf.SubGraph("tree", output_signature=spec, executor=executor) as f:
        n = f.input(tf.int32)

        def inner() -> tf.Tensor:
            return tf.tanh(tf.linalg.matvec(w, f(n - 1) + f(n - 2)))

        f.output(tf.cond(n <= 1, lambda: tf.gather(w, n), inner))
    return f


def shared(executor: str, w: tf.Variable) -> Any:
    """Returns a recursion with `memo=`, and a map of a list."""
    spec = tf.TensorSpec([2])
    with rtf.SubGraph(
        "shared", output_signature=spec, executor=executor, memo=lambda n: n
    ) as f:
        n = f.input(tf.int32)

        def inner() -> tf.Tensor:
            return tf.reduce_sum(f.map(tf.range(n)), axis=0) * w[0]

        f.output(tf.cond(n < 1, lambda: w[1], inner))
    return f


def loop(executor: str, w: tf.Variable) -> Any:
    """Returns a recursion that goes on in turns of a loop, and pushes."""
    with rtf.SubGraph("loop", executor=executor) as f:
        n = f.input(tf.int32)

        def turn(i: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + 1, tf.sin(tf.linalg.matvec(w, x))

        h = tf.while_loop(lambda i, _: i < n, turn, (0, w[0]))[1]
        f.push("h", h, index=n, size=5)
        f.output(h)
    return f


BOTH = ("batched", "dataflow")
# A loop is TensorFlow's own in the dataflow executor.
PROGRAMS = {"tree": (tree, BOTH), "shared": (shared, BOTH), "loop": (loop, BOTH[:1])}
ARGUMENT = [0, 1, 3, 4]


class Model(tf.Module):
    """A program, and the gradient by its weights."""

    def __init__(self, define: Callable[..., Any], executor: str) -> None:
        super().__init__()
        self.w = tf.Variable([[0.5, -0.25], [0.125, 0.75]])
        program = define(executor, self.w)

        @tf.function(input_signature=SIGNATURE)
        def values(n: tf.Tensor) -> tf.Tensor:
            return program.map(n)

        @tf.function(input_signature=SIGNATURE)
        def gradient(n: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(program.map(n) ** 2)
            return tape.gradient(y, self.w)

        self.values, self.gradient = values, gradient


def results(model: object) -> dict[str, object]:
    """Returns what a model gives, as values that JSON has."""
    n = tf.constant(ARGUMENT)
    return {
        name: getattr(model, name)(n).numpy().tolist()
        for name in ("values", "gradient")
    }


def main(folder: pathlib.Path) -> None:
    """Writes a model for each program and executor."""
    expected = {}
    for name, (define, executors) in PROGRAMS.items():
        for executor in executors:
            model = Model(define, executor)
            expected[f"{name}_{executor}"] = results(model)
            options = tf.saved_model.SaveOptions(experimental_debug_stripper=True)
            path = folder / f"{name}_{executor}"
            tf.saved_model.save(model, str(path), options=options)
            (path / "fingerprint.pb").unlink(missing_ok=True)
    text = json.dumps(expected, indent=1, sort_keys=True)
    (folder / "expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
