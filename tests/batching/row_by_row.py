"""The gradient of a block as TensorFlow finds it, for one row at a time."""

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.trainable import is_trainable
from tests.batching.interpreter import Interpreter


class RowByRow:
    """The gradient of a block for one row, by TensorFlow."""

    def __init__(self, compiled, index):
        block = compiled.blocks[index]
        graph = Interpreter(compiled).graph_of(block.inputs, block.outputs)
        rows = len(block.inputs)
        numbers = {id(external): i for i, external in enumerate(compiled.captures)}
        externals = [external for external, _ in graph.captures]
        xs = {("input", i): t for i, t in enumerate(graph.inputs[:rows])}
        for external, tensor in graph.captures:
            xs["capture", numbers[id(external)]] = tensor
        xs = {k: t for k, t in xs.items() if is_differentiable(t)}
        with graph.as_default():
            ys = [y for y in graph.outputs if is_trainable(y.dtype)]
            dys = [tf_compat.placeholder_like(graph, y) for y in ys]
            found = tf.gradients(ys, list(xs.values()), dys) if ys and xs else []
            found = [
                dense(g.values, g.indices, num_rows_of(x))
                if isinstance(g, tf.IndexedSlices)
                else g
                for x, g in zip(xs.values(), found, strict=bool(ys))
            ]
        pairs = [(k, g) for k, g in zip(xs, found, strict=bool(ys)) if g is not None]
        self._num_outputs = len(graph.outputs)
        self._keys = [key for key, _ in pairs]
        graph.outputs = [*graph.outputs, *(g for _, g in pairs)]
        graph.inputs = [*graph.inputs, *dys]
        function = tf_compat.make_function(graph)
        self._call = lambda inputs, dys: function.call_flat(*inputs, *externals, *dys)

    def run(self, inputs, cotangents):
        """Returns the outputs, and gradients by ("input" or "capture", index)."""
        results = self._call(inputs, [c for c in cotangents if c is not None])
        outputs, gradients = split_at(results, self._num_outputs)
        return outputs, dict(zip(self._keys, gradients, strict=True))


def is_differentiable(tensor):
    return is_trainable(tensor.dtype) or tensor.dtype == tf.resource


def dense(values, indices, num_rows):
    """Returns the gradient of a table as it would be without slices."""
    return tf.math.unsorted_segment_sum(values, indices, num_rows)


def num_rows_of(table):
    """Returns how many rows a tensor, or the variable that a handle leads to, has."""
    if table.dtype == tf.resource:
        return tf.raw_ops.VariableShape(input=table)[0]
    return tf.shape(table)[0]


def split_at(values, index):
    return list(values[:index]), list(values[len(values) if index is None else index :])
