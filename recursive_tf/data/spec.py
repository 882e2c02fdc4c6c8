"""The spec of forests that are not there yet."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from recursive_tf.data.forest import Forest
from recursive_tf.data.forest_spec import CHILD_SPEC, CHILDREN_SPEC, make_spec
from recursive_tf.data.rows import FEATURE


def forest_spec(
    tokens: tf.DType = tf.int32,
    *,
    labels: tf.DType | tf.TensorSpec | None = None,
    features: Mapping[str, tf.DType | tf.TensorSpec] | None = None,
    binary: bool = True,
    batch: bool = True,
) -> Any:
    """Returns the `Forest.Spec` for an `input_signature`, or of a dataset.

    Of a forest that is there, `tf.type_spec_from_value(forest)` is the spec.

    >>> spec = forest_spec(tf.string, labels=tf.int32)
    >>> spec.shape
    TensorShape([None])

    Args:
        tokens: The dtype of tokens.
        labels: A dtype, or a spec `[None, ...]`; None if there are no labels.
        features: By name, as `labels`.
        binary: Whether nodes have a left and a right child, or else lists of them.
        batch: Whether the spec is that of a batch, or of one tree.
    """
    given = {"tokens": tokens, "labels": labels}
    given |= {FEATURE + name: feature for name, feature in (features or {}).items()}
    specs = {name: _rows(spec) for name, spec in given.items() if spec is not None}
    if binary:
        specs |= {"left": CHILD_SPEC, "right": CHILD_SPEC}
    else:
        specs["children"] = CHILDREN_SPEC
    return make_spec(Forest.Spec, int(batch), specs)


def _rows(spec: Any) -> tf.TensorSpec:
    if isinstance(spec, tf.TensorSpec):
        shape = tf.TensorShape([None]).concatenate(spec.shape[1:])
        return tf.TensorSpec(shape, spec.dtype)
    return tf.TensorSpec([None], spec)
