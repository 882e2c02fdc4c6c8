"""A saved program has its gradients in a new process, without its Python."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.derivatives import curvatures

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]

X = np.array([0.5, -1.0], np.float32)
DEPTH = 3

LOAD = """
import sys
import numpy as np
import tensorflow as tf
import recursive_tf
from tests.helpers.derivatives import curvatures, squares_of

model = tf.saved_model.load(sys.argv[1])
found = {}
for name, program in model.programs.items():
    x = tf.constant(np.load(sys.argv[2]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = program(x)
    gradients = tape.gradient(y, [x, model.w, model.table])
    for i, value in enumerate([y, *gradients]):
        if value is not None:
            found[f"{name}/{i}"] = tf.convert_to_tensor(value)
    if name != "effect":
        for i, value in enumerate(curvatures(program, x, [model.w, model.table])):
            found[f"second/{name}/{i}"] = tf.convert_to_tensor(value)
with tf.GradientTape() as tape:
    tape.watch(x)
    slopes = model.slopes(x)
    total = squares_of(slopes)
for i, gradient in enumerate(slopes):
    found[f"slopes/{i}"] = gradient
found["slope of slopes"] = tape.gradient(total, x)
np.savez(sys.argv[3], **found)
"""


def repeat(step, x):
    return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, step(y)), (0, x))[1]


def twice(f, y):
    return f(f(y))


def recursion(step, push=False, **choices):
    with rtf.SubGraph("recursion", **choices) as f:
        x, n = f.input(tf.float32, [2]), f.input(tf.int32)
        y = tf.cond(n < 1, lambda: tf.sin(x), lambda: step(x, n, f))
        if push:
            f.push("y", y, index=n, size=DEPTH + 1)
        f.output(y)
    return f


class Model(tf.Module):
    """Programs that differ in what a body does.

    Attributes:
        programs: From a name to a function of a vector.
    """

    def __init__(self):
        super().__init__()
        w = self.w = tf.Variable([[0.5, 1.5], [-1.0, 0.8]])
        table = self.table = tf.Variable([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
        counter = self.counter = tf.Variable(0)

        def product(y):
            return tf.linalg.matvec(w, y)

        def counted(x, n, f):
            counter.assign_add(1)
            return product(f(x, n - 1))

        steps = {
            "product": lambda x, n, f: product(f(x, n - 1)),
            "lookup": lambda x, n, f: f(x, n - 1) * tf.gather(table, n % 3),
            "branches": lambda x, n, f: tf.switch_case(
                n % 3, [lambda: x, lambda: f(product(x), n - 1), lambda: f(x, n - 2)]
            ),
            "call in a loop": lambda x, n, f: repeat(lambda y: product(f(y, n - 1)), x),
            "loop in a loop": lambda x, n, f: repeat(
                lambda y: repeat(lambda z: tf.sin(product(z)), y), f(x, n - 1)
            ),
            "function": lambda x, n, f: tf.function(product)(f(x, n - 1)),
            "custom gradient": lambda x, n, f: tripled_gradient(product(f(x, n - 1))),
            "custom gradient that uses values": lambda x, n, f: tf.nn.swish(
                product(f(x, n - 1))
            ),
            "custom gradient in a function that is called twice": lambda x, n, f: twice(
                tf.function(lambda y: tf.nn.swish(product(y))), f(x, n - 1)
            ),
        }
        functions = {
            name: self._program(recursion(step)) for name, step in steps.items()
        }
        # That cannot be batched.
        with_effect = recursion(counted, executor="dataflow")
        functions["effect"] = self._program(with_effect)
        pushing = recursion(steps["product"], push=True)
        functions["push"] = lambda x: pushing(x, DEPTH, with_pushed=True)[1]["y"]
        functions["map"] = lambda x: recursion(steps["product"]).map(
            tf.stack([x, 2 * x]), [1, 2]
        )
        spec = [tf.TensorSpec([2])]
        self.programs = {k: tf.function(f, spec) for k, f in functions.items()}
        self.slopes = tf.function(self._slopes, spec)

    def _program(self, f):
        return lambda x: f(x, DEPTH)

    def _slopes(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = self.programs["product"](x)
        return tape.gradient(y, [x, self.w])


@tf.custom_gradient
def tripled_gradient(x):
    return tf.identity(x), lambda dy: 3.0 * dy


@pytest.fixture(scope="module")
def model(executor):
    return Model()


@pytest.fixture(scope="module")
def loaded(model, tmp_path_factory):
    """What another process computes that loaded the model."""
    folder = tmp_path_factory.mktemp("saved")
    tf.saved_model.save(model, folder / "model")
    np.save(folder / "x.npy", X)
    root = pathlib.Path(__file__).parents[2]
    arguments = [folder / "model", folder / "x.npy", folder / "found.npz"]
    subprocess.run(
        [sys.executable, "-c", LOAD, *arguments],
        check=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    return np.load(folder / "found.npz")


PROGRAMS = [
    "product",
    "lookup",
    "branches",
    "call in a loop",
    "loop in a loop",
    "function",
    "custom gradient",
    "custom gradient that uses values",
    "custom gradient in a function that is called twice",
    "effect",
    "push",
    "map",
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_the_same_after_loading(name, model, loaded):
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model.programs[name](x)
    gradients = tape.gradient(y, [x, model.w, model.table])
    expected = {
        f"{name}/{i}": tf.convert_to_tensor(value)
        for i, value in enumerate([y, *gradients])
        if value is not None
    }
    found = {key: loaded[key] for key in loaded.files if key.startswith(f"{name}/")}
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-5, err_msg=key)


def test_a_saved_function_may_take_the_gradient_itself(model, loaded):
    for i, expected in enumerate(model.slopes(tf.constant(X))):
        np.testing.assert_allclose(loaded[f"slopes/{i}"], expected, rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "effect"])
def test_gradients_of_gradients_are_the_same_after_loading(name, model, loaded):
    program = model.programs[name]
    found = curvatures(program, tf.constant(X), [model.w, model.table])
    for i, expected in enumerate(found):
        after = loaded[f"second/{name}/{i}"]
        np.testing.assert_allclose(after, expected, rtol=1e-4, atol=1e-5)


def test_the_gradient_that_a_saved_function_takes_has_one(model, loaded):
    by_x, _ = curvatures(model.programs["product"], tf.constant(X), [model.w])
    np.testing.assert_allclose(loaded["slope of slopes"], by_x, rtol=1e-4)
