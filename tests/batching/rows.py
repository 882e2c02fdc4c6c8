"""Runs a vectorized block on some rows, and compares each with the block itself."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python import tf_compat
from recursive_tf.python.batching.vectorize.rules import rule_of
from tests.batching.interpreter import Compiled, Interpreter

SCALAR = tf.TensorSpec([])
VECTOR = tf.TensorSpec([3])
SQUARE = tf.TensorSpec([3, 3])
CUBE = tf.TensorSpec([2, 3, 4])
IMAGE = tf.TensorSpec([2, 6, 6, 2])
INDEX = tf.TensorSpec([], tf.int32)
INDICES = tf.TensorSpec([2], tf.int32)
FLAG = tf.TensorSpec([], tf.bool)
FLAGS = tf.TensorSpec([3], tf.bool)
TEXT = tf.TensorSpec([], tf.string)
TEXTS = tf.TensorSpec([3], tf.string)

# What 16 bits are good for.
_TOLERANCE = {tf.float16: 1e-2, tf.bfloat16: 5e-2}


def define_body(body, *specs):
    """Returns a SubGraph that computes something of its inputs."""
    with rtf.SubGraph("f") as f:
        f.output(body(*(f.input(spec) for spec in specs)))
    return f


def vectorized(compiled, rule_for=rule_of):
    """Returns a graph for each block, with the values of what it takes but rows."""
    prologue, blocks = compiled.inference_forms(rule_for)
    wanted = [tensor for _, invariants in blocks for tensor in invariants]
    prologue.graph.outputs = wanted
    captures = [compiled.captures[index] for index in prologue.captures]
    given = run(prologue.graph, captures) if wanted else []
    functions = []
    for graph, invariants in blocks:
        own, given = given[: len(invariants)], given[len(invariants) :]
        functions.append((graph, own))
    return functions


def run(graph, arguments):
    return tf_compat.make_function(graph).call_flat(*arguments)


def part_of(tensor):
    return tf.TensorSpec(tensor.shape, tensor.dtype.real_dtype)


def rows_like(tensor, num_rows, seed):
    """Returns rows for an input of a block."""
    shape = [num_rows, *tensor.shape]
    if tensor.dtype.is_complex:
        parts = (rows_like(part_of(tensor), num_rows, seed + i) for i in (0, 50))
        return tf.complex(*parts)
    if tensor.dtype.is_floating:
        drawn = tf.random.stateless_uniform(shape, [seed, 1], -2, 2)
        return tf.cast(drawn, tensor.dtype)
    if tensor.dtype == tf.bool:
        return tf.random.stateless_uniform(shape, [seed, 2]) < 0.5
    drawn = tf.random.stateless_uniform(shape, [seed, 3], 0, 3, tf.int32)
    if tensor.dtype == tf.string:
        return tf.gather(["Ab c", "d", "eF"], drawn)
    return tf.cast(drawn, tensor.dtype)


def assert_rows_are_alike(subgraph, numbers_of_rows=(1, 3, 0)):
    """Compares every block with itself, row by row; returns the graphs."""
    compiled = Compiled(subgraph)
    alone = Interpreter(compiled)
    functions = vectorized(compiled)
    for index, (graph, invariants) in enumerate(functions):
        for num_rows in numbers_of_rows:
            block = compiled.blocks[index]
            inputs = [rows_like(t, num_rows, i) for i, t in enumerate(block.inputs)]
            found = run(graph, [*inputs, *invariants])
            for output, rows in zip(block.outputs, found, strict=True):
                assert rows.shape == [num_rows, *output.shape]
                assert rows.dtype == output.dtype
            for row in range(num_rows):
                expected = alone.block(index, [x[row] for x in inputs])
                for one, other in zip(found, expected, strict=True):
                    _assert_close(one[row], other)
    return [graph for graph, _ in functions]


def _assert_close(found, expected):
    if not (expected.dtype.is_floating or expected.dtype.is_complex):
        np.testing.assert_array_equal(found, expected)
        return
    tolerance = _TOLERANCE.get(expected.dtype, 2e-5)
    wide = tf.complex128 if expected.dtype.is_complex else tf.float64
    np.testing.assert_allclose(
        tf.cast(found, wide), tf.cast(expected, wide), rtol=tolerance, atol=tolerance
    )
