"""TensorFlow functions of forests: what their roots are, and what they have not."""

from typing import List  # noqa: UP035 (dispatch knows no list[...])

import tensorflow as tf

from recursive_tf.data.errors import ForestError
from recursive_tf.data.forest import Forest

_NOT_STACKED = (
    "Forests are put together by rtf.data.concat([...]), and not by tf.stack or "
    "tf.concat: it moves the links of their nodes. It takes batches and single trees."
)


@tf.experimental.dispatch_for_api(tf.shape)
def _shape(  # type: ignore[no-untyped-def]
    input: Forest,
    out_type=tf.int32,  # Unannotated, because dispatch understands few types.
    name=None,
) -> tf.Tensor:
    """Returns `[num_trees]` of a batch, by which Keras weighs losses of batches."""
    return tf.shape(input.roots, out_type=out_type, name=name)


@tf.experimental.dispatch_for_api(tf.math.add_n)
def _add_n(inputs: List[Forest], name=None):  # type: ignore[no-untyped-def]  # noqa: UP006
    raise ForestError(
        "Forests have no sum or mean. If Keras asks for one, in `fit` or `evaluate` "
        "under a strategy of tf.distribute: call rtf.distribute.enable_fit(model) "
        "first, as in docs/distributed.md."
    )


@tf.experimental.dispatch_for_api(tf.stack)
def _stack(values: List[Forest], axis=0, name="stack"):  # type: ignore[no-untyped-def]  # noqa: UP006
    raise ForestError(_NOT_STACKED)


@tf.experimental.dispatch_for_api(tf.concat)
def _concat(values: List[Forest], axis, name="concat"):  # type: ignore[no-untyped-def]  # noqa: UP006
    raise ForestError(_NOT_STACKED)
