"""A SavedModel that takes forests is loaded in a new process."""

import subprocess
import sys

import pytest
import tensorflow as tf

from tests.data.examples import forest

pytestmark = pytest.mark.slow

LOAD = """
import sys
import tensorflow as tf
import recursive_tf as rtf

loaded = tf.saved_model.load(sys.argv[1])
trees = rtf.data.from_nested([["x", ["y", "z"]], "w"])
trees = trees.replace(labels=tf.range(6), features={"name": trees.tokens})
result = loaded(trees)
last, sizes = result["last"], result["sizes"]
print(type(last).__name__, last.to_nested(), sizes.numpy())

signature = loaded.signatures["serving_default"]
flat = tf.nest.flatten(trees, expand_composites=True)
names = sorted(signature.structured_input_signature[1])
print(names)
print(signature(**dict(zip(names, flat)))["sizes"].numpy())
"""


class LastTree(tf.Module):
    @tf.function(
        input_signature=[
            tf.type_spec_from_value(
                forest().replace(features={"name": forest().features["name"]})
            )
        ]
    )
    def __call__(self, trees):
        return {
            "last": trees[-1].replace(labels=None, features={}),
            "sizes": trees.sizes,
        }

    @tf.function(input_signature=__call__.input_signature)
    def sizes(self, trees):
        return {"sizes": trees.sizes + 0 * trees.roots}


def test_a_new_process_calls_a_saved_function_with_a_forest(tmp_path):
    module = LastTree()
    tf.saved_model.save(module, str(tmp_path), {"serving_default": module.sizes})
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [
        "Forest w [5 1]",
        "['trees', 'trees_1', 'trees_2', 'trees_3', 'trees_4', 'trees_5', 'trees_6']",
        "[5 1]",
    ]
