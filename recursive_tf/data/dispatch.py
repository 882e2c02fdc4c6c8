"""TensorFlow functions that take a forest for what its roots are."""

import tensorflow as tf

from recursive_tf.data.forest import Forest


@tf.experimental.dispatch_for_api(tf.shape)
def _shape(  # type: ignore[no-untyped-def]
    input: Forest,
    out_type=tf.int32,  # Unannotated, because dispatch understands few types.
    name=None,
) -> tf.Tensor:
    """Returns `[num_trees]` of a batch, by which Keras weighs losses of batches."""
    return tf.shape(input.roots, out_type=out_type, name=name)
