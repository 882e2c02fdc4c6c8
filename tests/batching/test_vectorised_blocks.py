"""A vectorised block gives each row what the block gives that row alone."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python import tf_compat
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.rules import rule_of
from tests.batching.interpreter import Compiled, Interpreter, types_of
from tests.batching.tree import define_tree_lstm

ROWS = 5
MATRIX = tf.random.stateless_normal([3, 4], [7, 7])
COMPLEX = tf.complex(MATRIX[:, :3], MATRIX[:, 1:])
CUBE = tf.random.stateless_normal([3, 3, 3], [9, 9])
TABLE = tf.random.stateless_normal([6, 3], [8, 8])


def define_body(body, *specs):
    """Returns a SubGraph that computes something of its inputs."""
    with rtf.SubGraph("f") as f:
        f.output(body(*(f.input(spec) for spec in specs)))
    return f


def vectorised(compiled, rule_for=rule_of):
    """Returns a function of rows for each block."""
    prologue, blocks = compiled.vectorise(rule_for)
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


def rows_like(tensor, seed):
    """Returns rows for an input of a block."""
    shape = [ROWS, *tensor.shape]
    if tensor.dtype.is_floating:
        return tf.random.stateless_uniform(shape, [seed, 1], -2, 2, tensor.dtype)
    if tensor.dtype.is_complex:
        return tf.complex(*(rows_like(part_of(tensor), seed + i) for i in (0, 50)))
    if tensor.dtype == tf.bool:
        return tf.random.stateless_uniform(shape, [seed, 2]) < 0.5
    drawn = tf.random.stateless_uniform(shape, [seed, 3], 0, 3, tf.int32)
    return tf.cast(drawn, tensor.dtype)


def assert_rows_are_alike(subgraph):
    """Compares every block with itself, row by row; returns the functions."""
    compiled = Compiled(subgraph)
    alone = Interpreter(compiled)
    functions = vectorised(compiled)
    for index, (graph, invariants) in enumerate(functions):
        block = compiled.blocks[index]
        inputs = [rows_like(t, seed) for seed, t in enumerate(block.inputs)]
        found = run(graph, [*inputs, *invariants])
        for row in range(ROWS):
            expected = alone.block(index, [x[row] for x in inputs])
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one[row], other, rtol=2e-5, atol=1e-6)
    return [graph for graph, _ in functions]


VECTOR = tf.TensorSpec([3])
SQUARE = tf.TensorSpec([3, 3])
COMPLEXES = tf.TensorSpec([3, 3], tf.complex64)
INDEX = tf.TensorSpec([], tf.int32)

BODIES = {
    "elementwise": (lambda x: tf.tanh(x) * 2.0 + x, VECTOR),
    "broadcasting": (lambda x, m: m * x + m[:, :1], VECTOR, SQUARE),
    "a captured vector": (lambda x: x + MATRIX[:, 0], VECTOR),
    "a scalar to a matrix": (lambda n, m: m * tf.cast(n, tf.float32), INDEX, SQUARE),
    "comparisons": (lambda x: tf.where(x > 0.0, x, -x), VECTOR),
    "a vector by a matrix": (
        lambda x: tf.linalg.matvec(MATRIX, x, transpose_a=True),
        VECTOR,
    ),
    "a matrix by a vector": (
        lambda x: tf.linalg.matvec(tf.transpose(MATRIX), x),
        VECTOR,
    ),
    "a row by a matrix": (lambda x: tf.matmul(x[tf.newaxis], MATRIX)[0], VECTOR),
    "a matrix by a matrix": (lambda m: tf.matmul(m, MATRIX), SQUARE),
    "a transposed matrix": (lambda m: tf.matmul(m, MATRIX, transpose_a=True), SQUARE),
    "a captured matrix by a matrix": (
        lambda m: tf.matmul(MATRIX, m, transpose_a=True),
        SQUARE,
    ),
    "both of the row": (lambda x, m: tf.linalg.matvec(m, x), VECTOR, SQUARE),
    "concat": (lambda x: tf.concat([x, MATRIX[:, 0], x * 2.0], 0), VECTOR),
    "concat along the last": (lambda m: tf.concat([m, m], -1), SQUARE),
    "split": (lambda m: tf.split(m, 3, 1)[1], SQUARE),
    "stack": (lambda x: tf.stack([x, x + 1.0], 1), VECTOR),
    "reshape": (lambda m: tf.reshape(m, [-1]), SQUARE),
    "reshape by shape": (lambda m: tf.reshape(m, tf.shape(MATRIX[:, :3])), SQUARE),
    "expand and squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 1), 1) * x, VECTOR),
    "a slice": (lambda m: m[1:, 0], SQUARE),
    "transpose": (lambda m: tf.transpose(m) + 1.0, SQUARE),
    "a sum of all": (lambda m: tf.reduce_sum(m), SQUARE),
    "a sum along an axis": (lambda m: tf.reduce_max(m, -1), SQUARE),
    "softmax": (tf.nn.softmax, SQUARE),
    "zeros like": (lambda x: tf.zeros_like(x) + x, VECTOR),
    "size": (lambda x: x * tf.cast(tf.size(x), tf.float32), VECTOR),
    "gather of a table": (lambda n: tf.gather(TABLE, n) * 1.0, INDEX),
    "gather along an axis": (lambda n: tf.gather(TABLE, n, axis=1), INDEX),
    "gather of the row": (lambda x, n: tf.gather(x, n), VECTOR, INDEX),
    "gather by a captured index": (lambda m: tf.gather(m, [2, 0], axis=1), SQUARE),
    "one hot": (lambda n: tf.one_hot(n, 4), INDEX),
    "cast": (lambda n: tf.cast(n, tf.float64), INDEX),
    "argmax": (lambda x: tf.argmax(x), VECTOR),
    "what no row changes": (lambda x: tf.tanh(MATRIX[:, 0]) * x, VECTOR),
    "einsum": (lambda x: tf.einsum("i,ij->j", x, MATRIX), VECTOR),
    "einsum, the matrix first": (lambda x: tf.einsum("ij,i->j", MATRIX, x), VECTOR),
    "einsum, two letters": (lambda m: tf.einsum("ij,ijk->k", m, CUBE), SQUARE),
    "einsum, in another order": (lambda m: tf.einsum("ki,ijl->lkj", m, CUBE), SQUARE),
    "einsum, a letter stays": (lambda m: tf.einsum("ij,ij->i", m, CUBE[0]), SQUARE),
    "einsum of rows": (lambda x, m: tf.einsum("i,ij->j", x, m), VECTOR, SQUARE),
    "einsum, a letter twice": (lambda m: tf.einsum("ii,ij->j", m, MATRIX), SQUARE),
    "a complex product": (lambda z: tf.matmul(z, COMPLEX, adjoint_b=True), COMPLEXES),
    "a transposed complex product": (
        lambda z: tf.matmul(z, z, transpose_a=True),
        COMPLEXES,
    ),
    "a complex vector": (
        lambda z: tf.linalg.matvec(COMPLEX, z[0], adjoint_a=True),
        COMPLEXES,
    ),
    "a batch of adjoint products": (
        lambda z: tf.matmul(tf.stack([z, z]), COMPLEX, adjoint_a=True),
        COMPLEXES,
    ),
    "einsum of three": (
        lambda x: tf.einsum("i,ijk,j->k", x, CUBE, x),
        VECTOR,
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_are_as_alone(body):
    assert_rows_are_alike(define_body(*body))


def test_blocks_of_a_tree_lstm():
    graphs = assert_rows_are_alike(define_tree_lstm())
    assert [types_of(graph) for graph in graphs] == [
        ["GatherV2", "Less", "Reshape", "GatherNd", "Cast"],
        [
            *("ConcatV2", "MatMul", "AddV2", "Split"),
            *("Sigmoid", "Tanh", "Mul", "Sigmoid", "Mul", "AddV2", "Sigmoid", "Mul"),
            *("AddV2", "Sigmoid", "Tanh", "Mul"),
        ],
        ["GatherV2", "ResourceGather", "Tanh"],
    ]


def test_an_einsum_with_a_shared_tensor_is_one_product():
    (graph,) = assert_rows_are_alike(
        define_body(lambda m: tf.einsum("ij,ijk->k", m, CUBE), SQUARE)
    )
    assert types_of(graph) == ["Reshape", "MatMul"]


def test_a_lookup_for_a_branch_that_is_not_taken_does_not_fail():
    table = tf.constant([1, 2, 5, 5])

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        next_one = lambda: f(tf.gather(table, n))  # noqa: E731
        f.output(tf.cond(n > 3, lambda: n, next_one))
    compiled = Compiled(f)
    ((graph, invariants), *_) = vectorised(compiled)
    taken, following = run(graph, [tf.constant([0, 5, 2]), *invariants])
    assert taken.numpy().tolist() == [False, True, False]
    assert following.numpy()[[0, 2]].tolist() == [1, 5]


def test_a_lookup_that_could_fail_waits_for_its_branch():
    table = tf.constant([[1, 2, 5, 5]])

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        next_one = lambda: f(tf.gather(table, n, axis=1)[0])  # noqa: E731
        f.output(tf.cond(n > 3, lambda: n, next_one))
    compiled = Compiled(f)
    ((graph, invariants), *_) = vectorised(compiled)
    (taken,) = run(graph, [tf.constant([0, 5, 2]), *invariants])
    assert taken.numpy().tolist() == [False, True, False]


REFUSED = {
    "random numbers": (lambda x: x + tf.random.normal([3]), "effect", VECTOR),
    "a shape that differs": (
        lambda n: tf.reduce_sum(tf.range(n)),
        "may differ between activations",
        INDEX,
    ),
    "a loop": (
        lambda n: tf.while_loop(lambda i: i < n, lambda i: [i + 1], [0])[0],
        "no rule",
        INDEX,
    ),
}


@pytest.mark.parametrize(("body", "why", "spec"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_batched_is_refused_with_its_line(body, why, spec):
    compiled = Compiled(define_body(body, spec))
    with pytest.raises(CannotBatchError, match=why) as refused:
        vectorised(compiled)
    assert "test_vectorised_blocks.py:" in refused.value.place


def test_what_depends_on_the_number_of_rows_is_refused():
    def count_rows(block, op, inputs):
        del op
        return [inputs[0].tensor * float(block.num_rows)]

    compiled = Compiled(define_body(lambda x: tf.sin(x), VECTOR))
    with pytest.raises(CannotBatchError, match="how many rows there are"):
        vectorised(compiled, lambda _: count_rows)


def test_a_rule_may_build_with_the_number_of_rows():
    def twice(block, op, inputs):
        del op
        both = tf.reshape(tf.concat([inputs[0].tensor] * 2, 0), [2 * block.num_rows, 3])
        return [both[: block.num_rows]]

    compiled = Compiled(define_body(lambda x: tf.sin(x), VECTOR))
    ((graph, invariants),) = vectorised(compiled, lambda _: twice)
    rows = tf.random.stateless_normal([ROWS, 3], [1, 2])
    np.testing.assert_array_equal(run(graph, [rows, *invariants])[0], rows)
