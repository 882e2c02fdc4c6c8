"""Programs that are saved, and loaded in another process."""

import os
import pathlib
import subprocess
import sys
from functools import partial

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.ops.gate import LIBRARY_NAME
from tests.helpers.keras_models import DEPTHS, X, assert_all_close, functional, trained
from tests.helpers.unrolled import assert_close, define_repeat, unroll
from tests.language.features import feature

feature = partial(feature, "Saving and loading")

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[2]
SIGNATURE = [tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)]


class Model(tf.Module):
    """A recursion of a number, that reads a variable."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(1.5)
        self.repeat = define_repeat(self.step)

    def step(self, y, n):
        return tf.sin(y * self.w) * tf.cast(n, tf.float32)

    @tf.function(input_signature=SIGNATURE)
    def __call__(self, n, x):
        return {"y": self.repeat(n, x)}


def run_python(code, folder, *arguments, knows_library=True):
    """Returns what a new process prints, in a folder."""
    environment = os.environ | {"PYTHONPATH": str(ROOT) if knows_library else ""}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- SavedModels

LOAD = """
import tensorflow as tf
import recursive_tf

model = tf.saved_model.load("model")
n, x = tf.constant(3), tf.constant(0.7)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = model(n, x)["y"]
served = model.signatures["serving_default"](n=n, x=x)["y"]
executor = recursive_tf.explain(model.signatures["serving_default"]).executor
print(float(y), float(served), *map(float, tape.gradient(y, [x, model.w])), executor)
"""


@feature(
    "`tf.saved_model`: values and gradients in a process that only imports "
    "`recursive_tf`",
    gradients=True,
)
def test_a_saved_model(tmp_path):
    model, x = Model(), tf.constant(0.7)
    results = []
    for run in (lambda x: model(3, x)["y"], lambda x: unroll(model.step, 3, x)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        results.append([y, *tape.gradient(y, [x, model.w])])
    assert_all_close(*results)
    tf.saved_model.save(model, tmp_path / "model")
    *found, executor = run_python(LOAD, tmp_path).split()
    y, *gradients = results[1]
    assert_all_close(map(float, found), [y, y, *gradients])
    assert executor == rtf.explain(model.repeat).executor


LOAD_ALONE = """
import sys
import tensorflow as tf

try:
    tf.saved_model.load("model")
except Exception as error:
    print(error)
tf.load_op_library(sys.argv[1])
serve = tf.saved_model.load("model").signatures["serving_default"]
print(float(serve(n=tf.constant(3), x=tf.constant(0.7))["y"]))
"""


@feature("inference in a process that only loads the C++ library: `tf.load_op_library`")
def test_a_saved_model_without_python(tmp_path):
    model, library = Model(), ROOT / "recursive_tf" / "ops" / LIBRARY_NAME
    expected = model(3, 0.7)["y"]
    tf.saved_model.save(model, tmp_path / "model")
    printed = run_python(LOAD_ALONE, tmp_path, library, knows_library=False)
    message, found = printed.strip().rsplit("\n", maxsplit=1)
    assert "Op type not registered" in message
    assert "Recursive" in message
    assert_close(tf.constant(float(found)), expected)


@feature("`saved_model_cli show` lists the signatures, without the library")
def test_the_signatures_of_a_saved_model(tmp_path):
    model = Model()
    assert_close(model(3, 0.7)["y"], unroll(model.step, 3, tf.constant(0.7)))
    tf.saved_model.save(model, tmp_path / "model")
    show = "import sys, runpy; sys.argv = ['cli', 'show', '--dir', 'model', '--all']\n"
    show += (
        "runpy.run_module('tensorflow.python.tools.saved_model_cli', None, '__main__')"
    )
    shown = run_python(show, tmp_path, knows_library=False)
    assert "signature_def['serving_default']" in shown
    for line in ("inputs['n']", "inputs['x']", "outputs['y']"):
        assert line in shown


# --- Checkpoints, and Keras's files


@feature("`tf.train.Checkpoint`", gradients=True)
def test_a_checkpoint(tmp_path):
    model, other, x = Model(), Model(), tf.constant(0.7)
    other.w.assign(0.25)
    model.w.assign_add(model(3, x)["y"])
    path = tf.train.Checkpoint(model=model).save(tmp_path / "saved")
    tf.train.Checkpoint(model=other).restore(path).assert_consumed()
    results = []
    for run in (lambda x: other(3, x)["y"], lambda x: unroll(model.step, 3, x)):
        with tf.GradientTape() as tape:
            y = run(x)
        (w,) = tape.watched_variables()
        results.append([y, tape.gradient(y, w)])
    assert_all_close(*results)


@feature("Keras `.keras` files of models with a recursive layer", gradients=True)
def test_a_keras_file(tmp_path):
    model = functional(recursive=True)
    trained(model)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert_all_close(trained(loaded), trained(model))


@feature("Keras `Model.export`")
def test_an_exported_keras_model(tmp_path):
    model = functional(recursive=True)
    expected = model.predict([DEPTHS, X], verbose=0)
    model.export(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "model")
    assert_close(loaded.serve([DEPTHS, X]), tf.constant(expected))
