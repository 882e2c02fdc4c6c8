"""From a graph for so many rows to one for any number."""

import pytest
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.draft import make_graph
from recursive_tf.python.batching.graphs.emit import emit
from recursive_tf.python.batching.graphs.simplify import simplify
from recursive_tf.python.batching.refusal import CannotBatchError

PRIME = 65519


def draft(function):
    """Returns drafts of a function of `PRIME` rows of 3."""
    graph = tf_compat.FuncGraph("f")
    x = tf_compat.placeholder_like(graph, tf.TensorSpec([PRIME, 3]))
    with graph.as_default():
        graph.inputs, graph.outputs = [x], [function(x)]
    return simplify(graph).drafted()


@pytest.mark.parametrize("num_rows", [0, 1, 4])
def test_a_number_of_rows_becomes_any_number(num_rows):
    emitted = emit(draft(lambda x: tf.reshape(x, [PRIME * 3]) + 1.0), [PRIME])
    function = tf_compat.make_function(make_graph(emitted))
    (found,) = function.call_flat(tf.zeros([num_rows, 3]))
    assert found.numpy().tolist() == [1.0] * (3 * num_rows)


def test_what_one_row_would_mean_something_else_to_is_refused():
    def gradient_of_broadcast(x):
        sizes = tf.cast(x[0], tf.int32)
        axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=sizes, s1=[1, 3])
        return tf.reduce_sum(x, axes)

    with pytest.raises(CannotBatchError, match=r"BroadcastGradientArgs.* shapes that"):
        emit(draft(gradient_of_broadcast), [PRIME])
