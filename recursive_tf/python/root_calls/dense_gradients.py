"""Which gradients of root calls have to be tensors, and not `IndexedSlices`."""

import tensorflow as tf

from recursive_tf.python import tf_compat


def want_dense_gradients(graph: tf_compat.FuncGraph) -> None:
    """Makes gradients of the root calls in a function tensors, for forward mode.

    That makes them tensors itself, whose shapes are not known; so it asks for those of
    another function's, where a gradient is zero, and fails.
    """
    tf_compat.keep_with(graph, want_dense_gradients, True)


def wants_dense_gradients(graph: tf.Graph) -> bool:
    """Says whether that was done."""
    return want_dense_gradients in tf_compat.kept_with(graph)
