"""What in TensorFlow and Keras draws random numbers or updates averages."""

import pathlib

import tensorflow as tf
from tensorflow.python.framework import random_seed

from recursive_tf.python.tf_compat.origins import frames_of

_KERAS = pathlib.Path(tf.__file__).parents[1] / "keras" / "src"
_SEED_GENERATORS = str(_KERAS / "random" / "seed_generator.py")
_BATCH_NORMALIZATION = str(_KERAS / "layers/normalization/batch_normalization.py")


def op_seed_of(op: tf.Operation) -> int | None:
    """Returns the `seed=` that a stateful random op got, if that alone decides.

    With `tf.random.set_seed`, TensorFlow gives seeds to those ops too that got none.
    """
    has_own = op.get_attr("seed") == random_seed.DEFAULT_GRAPH_SEED
    return int(op.get_attr("seed2")) if has_own else None


def is_of_keras_seed(op: tf.Operation) -> bool:
    """Says whether a Keras `SeedGenerator` made this op of its state for a new seed."""
    if not op.inputs or op.inputs[0].dtype != tf.resource:
        return False
    value = op.outputs[0] if op.outputs else op.inputs[1]
    # Which is quicker to see than who made it.
    if not value.dtype.is_integer or not value.shape.is_compatible_with([2]):
        return False
    made_by = ((f.filename, f.name) for f in frames_of(op))
    return (_SEED_GENERATORS, "next") in made_by


def is_of_batch_normalization(op: tf.Operation) -> bool:
    """Says whether a Keras `BatchNormalization` made this op."""
    return any(f.filename == _BATCH_NORMALIZATION for f in frames_of(op))
