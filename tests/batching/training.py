"""Runs a block with its gradient, and compares that with the block row by row."""

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.differentiate.training_block import (
    KeptFrom,
    make_training_block,
)
from recursive_tf.python.program.trainable import is_trainable
from tests.batching.interpreter import Compiled
from tests.batching.row_by_row import RowByRow, dense, num_rows_of, split_at
from tests.batching.rows import rows_like, run


class Training:
    """The training forms of the blocks of a program.

    Args:
        subgraph: One that was defined eagerly.
    """

    def __init__(self, subgraph):
        compiled = Compiled(subgraph)
        self.compiled = compiled
        self.prologue, vectorized = compiled.vectorize()
        wanted = compiled.wanted(self.prologue)
        self.blocks = [make_training_block(each, wanted) for each in vectorized]
        self._captures = [compiled.captures[i] for i in self.prologue.captures]

    def run_prologue(self, tensors):
        """Returns the values of tensors of the prologue."""
        self.prologue.graph.outputs = list(tensors)
        return run(self.prologue.graph, self._captures) if tensors else []

    def run_launch(self, index, inputs, cotangents):
        """Returns outputs, gradients of inputs by index, and what is kept."""
        block = self.blocks[index]
        given = self.run_prologue(block.forward_invariants)
        forward = [*inputs, *run(block.forward, [*inputs, *given])]
        backward = []
        if block.backward is not None:
            taken = [forward[i] for i in block.tape]
            taken += [cotangents[i] for i in block.cotangents]
            given = self.run_prologue(block.backward_invariants)
            backward = run(block.backward, [*taken, *given])
        gradients, extras = split_at(backward, len(block.input_gradients))
        assert len(extras) == block.num_backward_extras
        values = {
            KeptFrom.FORWARD: forward,
            KeptFrom.COTANGENT: cotangents,
            KeptFrom.BACKWARD: extras,
        }
        kept = [values[k.source][k.index] for k in block.kept]
        outputs, extras = split_at(forward[len(inputs) :], -block.num_extras or None)
        assert len(extras) == block.num_extras
        by_index = dict(zip(block.input_gradients, gradients, strict=True))
        return outputs, by_index, kept

    def run_deferred(self, index, launches):
        """Returns the gradients of captures, by index, of what launches kept."""
        block = self.blocks[index]
        if block.deferred is None:
            return {}
        rows = [tf.concat(parts, 0) for parts in zip(*launches, strict=True)]
        given = self.run_prologue(block.deferred_invariants)
        results = iter(run(block.deferred, [*rows, *given]))
        totals = {}
        for tensor, is_slices in block.invariant_gradients:
            gradient = next(results)
            if is_slices:
                gradient = dense(gradient, next(results), self._num_rows(tensor))
            for capture, part in self._through_prologue(tensor, gradient):
                totals[capture] = totals.get(capture, 0) + part
        assert next(results, None) is None
        return totals

    def _num_rows(self, table):
        (value,) = self.run_prologue([table])
        return num_rows_of(value)

    def _through_prologue(self, tensor, gradient):
        """Yields the gradients of captures, by index, from one of the prologue."""
        graph = self.prologue.graph
        captures = dict(zip(map(id, graph.inputs), self.prologue.captures, strict=True))
        if id(tensor) in captures:
            yield captures[id(tensor)], gradient
            return
        wanted = [t for t in graph.inputs if is_trainable(t.dtype)]
        with graph.as_default():
            found = tf.gradients(tensor, wanted, tf.constant(gradient.numpy()))
        pairs = [(t, g) for t, g in zip(wanted, found, strict=True) if g is not None]
        values = self.run_prologue([g for _, g in pairs])
        for (capture, _), value in zip(pairs, values, strict=True):
            yield captures[id(capture)], value


def assert_close(found, expected):
    """Compares relatively to the largest expected number."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if not is_trainable(expected.dtype):
        np.testing.assert_array_equal(found, expected)
        return
    tolerance = 1e-2 if expected.dtype == tf.float16 else 1e-4
    wide = tf.complex128 if expected.dtype.is_complex else tf.float64
    found, expected = (
        np.asarray(tf.cast(found, wide)),
        np.asarray(tf.cast(expected, wide)),
    )
    scale = np.abs(expected).max(initial=1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def assert_gradients_are_alike(subgraph, launches=(2, 1, 0, 3)):
    """Compares every block, launched for so many rows, with itself row by row.

    Returns:
        The training form of the program.
    """
    training = Training(subgraph)
    for index in range(len(training.blocks)):
        alone = RowByRow(training.compiled, index)
        kept, expected = [], {}
        for seed, num_rows in enumerate(launches):
            inputs, cotangents = random_rows(training, index, num_rows, 100 * seed)
            outputs, gradients, rows = training.run_launch(index, inputs, cotangents)
            kept.append(rows)
            if num_rows:
                compare_rows(alone, inputs, cotangents, outputs, gradients, expected)
            else:
                assert all(len(x) == 0 for x in [*outputs, *gradients.values(), *rows])
        found = training.run_deferred(index, kept)
        assert_same_gradients(found, expected)
    return training


def random_rows(training, index, num_rows, seed):
    """Returns inputs of a block, and the gradients of its outputs that have some."""
    block = training.compiled.blocks[index]
    rows = [
        rows_like(tensor, num_rows, seed + i)
        for i, tensor in enumerate([*block.inputs, *block.outputs])
    ]
    inputs, cotangents = split_at(rows, len(block.inputs))
    return inputs, [c if is_trainable(c.dtype) else None for c in cotangents]


def compare_rows(alone, inputs, cotangents, outputs, gradients, expected):
    """Compares a launch with its rows, whose gradients of captures it adds up."""
    rows = [
        alone.run(
            [x[row] for x in inputs], [c if c is None else c[row] for c in cotangents]
        )
        for row in range(len(outputs[0]))
    ]
    for i, output in enumerate(outputs):
        assert_close(output, tf.stack([values[i] for values, _ in rows]))
    by_key = {key: [found[key] for _, found in rows] for key in rows[0][1]}
    of_inputs = {i: tf.stack(x) for (kind, i), x in by_key.items() if kind == "input"}
    assert_same_gradients(gradients, of_inputs)
    for (kind, i), parts in by_key.items():
        if kind == "capture":
            expected[i] = expected.get(i, 0) + tf.add_n(parts)


def assert_same_gradients(found, expected):
    """Compares gradients by index; there may be none where TensorFlow has zeros."""
    assert found.keys() <= expected.keys()
    for index, gradient in expected.items():
        if index in found:
            assert_close(found[index], gradient)
        else:
            np.testing.assert_array_equal(gradient, 0)
