"""Exported models run in processes that have the ops, and nothing else of the package.

What `tf.saved_model.load` gives a process that imports the package is in
test_training.py.
"""

import os
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import recursive_tf as rtf
from recursive_tf.ops.gate import LIBRARY_NAME

pytestmark = pytest.mark.slow

HERE = pathlib.Path(__file__).parent
LIBRARY = HERE.parents[1] / "recursive_tf" / "ops" / LIBRARY_NAME
TREES = rtf.data.from_nested([[1, [2, 3]], 4, [[5, 1], [2, 4]]], binary=True)
ARRAYS = {
    name: getattr(TREES, name).numpy().tolist()
    for name in ("tokens", "left", "right", "roots", "sizes")
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Returns the folder of a model, and what it says of the trees."""
    forest = rtf.layers.ForestInput()
    words = keras.layers.Embedding(6, 4)
    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(5), words)
    model = keras.Model(forest, keras.layers.Dense(2)(encoder(forest)))
    folder = tmp_path_factory.mktemp("model")
    rtf.layers.export(model, folder, like=TREES)
    return folder, model(TREES).numpy()


def output_of(command):
    """Returns what a new process prints."""
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOAD_ALONE = """
import sys
import tensorflow as tf

tf.load_op_library(sys.argv[1])
serve = tf.saved_model.load(sys.argv[2]).signatures["serving_default"]
arrays = {name: tf.constant(array) for name, array in ARRAYS.items()}
print(*serve(**arrays)["output_0"].numpy().flatten())
assert "recursive_tf" not in sys.modules
"""


def test_python_with_the_ops_alone_serves_arrays(exported):
    folder, expected = exported
    code = LOAD_ALONE.replace("ARRAYS", repr(ARRAYS))
    command = [sys.executable, "-c", code, LIBRARY, folder]
    found = [float(number) for number in output_of(command).split()]
    np.testing.assert_allclose(found, expected.flatten(), rtol=1e-4, atol=1e-6)


def default_signature(folder):
    saved = saved_model_pb2.SavedModel()
    saved.ParseFromString((folder / "saved_model.pb").read_bytes())
    return saved.meta_graphs[0].signature_def["serving_default"]


def op_of(tensor):
    """Returns the op of its first output."""
    op, index = tensor.name.split(":")
    assert index == "0"
    return op


def test_a_c_program_with_the_ops_alone_serves_arrays(exported, tmp_path):
    folder, expected = exported
    tensorflow = pathlib.Path(tf.sysconfig.get_lib())
    compiler = [os.environ.get("CXX", "g++"), "-x", "c", "-std=c11"]
    libraries = [f"-l:{path.name}" for path in tensorflow.glob("libtensorflow_*.so.2")]
    program = tmp_path / "serve"
    output_of(
        [
            *(*compiler, HERE / "serve.c", "-o", program),
            *("-isystem", tf.sysconfig.get_include()),
            *(f"-L{tensorflow}", f"-Wl,-rpath,{tensorflow}", *libraries),
        ]
    )
    signature = default_signature(folder)
    arrays = [
        f"{op_of(signature.inputs[name])}={','.join(map(str, array))}"
        for name, array in ARRAYS.items()
    ]
    output = op_of(signature.outputs["output_0"])
    printed = output_of([program, LIBRARY, folder, output, *arrays])
    found = [float(number) for number in printed.split()]
    np.testing.assert_allclose(found, expected.flatten(), rtol=1e-4, atol=1e-6)


# --- What is read


class ReadsHeads(keras.layers.Layer):
    """Reads one feature of its trees."""

    def __init__(self):
        super().__init__()
        words = keras.layers.Embedding(6, 4)
        self.encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(5), words)

    def build(self, _):
        self.encoder.build(None)

    def compute_output_spec(self, forest):
        return self.encoder.compute_output_spec(forest)

    def call(self, forest):
        heads = tf.cast(tf.gather(forest.features["head"], forest.roots), tf.float32)
        return self.encoder(forest) + heads[:, tf.newaxis]


COUNT = len(ARRAYS["tokens"])
COLUMNS = TREES.replace(
    labels=tf.range(COUNT),
    features={
        "deprel": tf.fill([COUNT], "nsubj"),
        "head": tf.range(COUNT),
        "lemma": tf.fill([COUNT], "be"),
    },
)


@pytest.fixture(scope="module")
def with_columns(tmp_path_factory):
    """Returns a loaded model whose example has labels and columns, and what it says."""
    forest = rtf.layers.ForestInput()
    model = keras.Model(forest, ReadsHeads()(forest))
    expected = model(COLUMNS).numpy()
    folder = tmp_path_factory.mktemp("columns")
    rtf.layers.export(model, folder, like=COLUMNS)
    return tf.saved_model.load(folder), expected


def test_a_signature_takes_what_the_model_reads(with_columns):
    loaded, expected = with_columns
    serve = loaded.signatures["serving_default"]
    arrays = {name: tf.constant(array) for name, array in ARRAYS.items()}
    assert set(serve.structured_input_signature[1]) == {*arrays, "feature_head"}
    found = serve(**arrays, feature_head=COLUMNS.features["head"])["output_0"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("has_columns", [True, False])
@pytest.mark.parametrize("has_labels", [True, False])
def test_forests_are_served_with_and_without_what_nobody_reads(
    with_columns, has_labels, has_columns
):
    loaded, expected = with_columns
    forest = COLUMNS
    if not has_labels:
        forest = forest.replace(labels=None)
    if not has_columns:
        forest = forest.replace(features={"head": COLUMNS.features["head"]})
    np.testing.assert_allclose(loaded.serve(forest), expected, rtol=1e-4, atol=1e-6)


def test_an_export_by_keras_names_the_way(tmp_path):
    forest = rtf.layers.ForestInput()
    words = keras.layers.Embedding(6, 4)
    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(5), words)
    model = keras.Model(forest, encoder(forest))
    with pytest.raises(TypeError, match=r"recursive_tf\.layers\.export\(model, path"):
        model.export(str(tmp_path / "model"))


def test_like_is_a_batch_of_trees(tmp_path):
    for like, kind in ((5, TypeError), (TREES[0], ValueError)):
        with pytest.raises(kind, match="like="):
            rtf.layers.export(None, tmp_path / "model", like=like)


def of_two_inputs():
    forest, kind = rtf.layers.ForestInput(), keras.Input([3])
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeRNNCell(4), keras.layers.Embedding(6, 4)
    )
    both = keras.layers.Concatenate()([encoder(forest), kind])
    return keras.Model([forest, kind], keras.layers.Dense(2)(both), name="of_two")


class Served(tf.Module):
    """What the error says to write instead."""

    def __init__(self, model):
        super().__init__()
        self.held = model.variables
        self._model = lambda *inputs: model(inputs)  # A model would be saved, too.

    @tf.function
    def serve(self, forest, kind):
        return self._model(forest, kind)


def test_a_model_of_two_inputs_is_refused_and_may_be_saved_otherwise(tmp_path):
    model, kind = of_two_inputs(), tf.ones([3, 3])
    with pytest.raises(ValueError, match=r"of_two takes 2 inputs\. Write it with"):
        rtf.layers.export(model, tmp_path / "model", like=TREES)
    assert not (tmp_path / "model").exists()
    served = Served(model)
    expected = served.serve(TREES, kind)
    tf.saved_model.save(served, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded.serve(TREES, kind), expected, rtol=1e-6)
