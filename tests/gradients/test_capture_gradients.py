"""The gradient of a weight does not travel through activations, and few values stay.

What a gradient procedure computes is read from its graph: a matrix the size of a
weight would be written, and added, once a node.
"""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from examples.tree_lstm import TreeLSTMCell, encode
from recursive_tf.python import tf_compat
from recursive_tf.python.gradient.program_gradient import ProgramGradient
from recursive_tf.python.gradient.sinks import COLLECTED, SUMMED
from recursive_tf.python.root_calls.root_op import capture_indices, procedures_of

pytestmark = pytest.mark.executor("dataflow")

FOREST_SPEC = rtf.data.forest_spec(tf.int32, labels=tf.int32)

# All different, so that a shape tells what a tensor is.
VOCABULARY, EMBEDDING, HIDDEN = 23, 7, 11
MATRICES = {
    "embedding": [VOCABULARY, EMBEDDING],
    "leaf_weights": [EMBEDDING, 3 * HIDDEN],
    "weights": [2 * HIDDEN, 5 * HIDDEN],
}
FLOAT_BYTES = 4
# Of a node: which branch was taken, which row was pushed, which word was looked up.
INTEGER_BYTES = 16


@pytest.fixture
def cell():
    return TreeLSTMCell(VOCABULARY, EMBEDDING, HIDDEN)


@pytest.fixture
def root_op(cell):
    """A root call that no gradient was taken of."""
    infer = tf.function(encode).get_concrete_function(FOREST_SPEC, cell)
    return find_root_op(infer.graph)


@pytest.fixture
def gradient(root_op):
    return gradient_of(root_op)


def find_root_op(graph):
    (op,) = (op for op in graph.get_operations() if op.type == "RecursiveInvoke")
    return op


def gradient_of(op):
    return ProgramGradient(procedures_of(op), capture_indices(op))


def ops_within(functions):
    """Returns all ops of functions, branches included."""
    return [op for function in functions for op in _ops_of(function)]


def _ops_of(function):
    for op in tf_compat.to_func_graph(function).get_operations():
        yield op
        for name in tf_compat.function_names(op):
            yield from _ops_of(tf_compat.find_function(op.graph, name))


def computed(functions):
    """Returns all tensors but arguments."""
    ops = (op for op in ops_within(functions) if op.type != "Placeholder")
    return [tensor for op in ops for tensor in op.outputs]


def kept(functions):
    """Returns, for each part of a procedure that keeps something, what it keeps."""
    ops = (op for op in ops_within(functions) if op.type == "RecursiveKeep")
    return [list(op.inputs)[1:] for op in ops]


def size_of_matrix(tensor):
    shape = tensor.shape.as_list()
    sizes = {tuple(sorted(matrix)) for matrix in MATRICES.values()}
    return len(shape) > 1 and tuple(sorted(shape)) in sizes


def num_bytes(tensors):
    """Returns what tensors take, but for handles of activations."""
    values = [t for t in tensors if t.dtype != tf.variant]
    return sum(t.shape.num_elements() * t.dtype.size for t in values)


def num_floats(tensors):
    values = [t for t in tensors if t.dtype.is_floating]
    return sum(t.shape.num_elements() for t in values)


def test_no_gradient_procedure_computes_a_matrix_of_the_size_of_a_weight(gradient):
    assert not [t for t in computed(gradient.gradients) if size_of_matrix(t)]


def test_no_gradient_procedure_returns_anything_for_a_capture(gradient):
    """An integer goes in, so nothing comes out."""
    assert [f.graph.outputs for f in gradient.gradients] == [[]]


def test_a_weights_gradient_is_gathered_as_two_vectors_a_node(gradient):
    products = [slot for slot in gradient.sinks.slots if slot.is_product]
    assert {slot.kind for slot in products} == {COLLECTED}
    shapes = [[part.shape.as_list()[1:] for part in slot.parts] for slot in products]
    assert sorted(shapes) == sorted(
        [[n] for n in MATRICES[name]] for name in ("leaf_weights", "weights")
    )


def test_an_embeddings_gradient_is_gathered_as_rows(gradient):
    (slot,) = (
        slot
        for slot in gradient.sinks.slots
        if slot.kind == COLLECTED and not slot.is_product
    )
    assert [part.shape.as_list() for part in slot.parts] == [[None, EMBEDDING], [None]]


def test_only_biases_are_summed_node_by_node(gradient):
    summed = [slot for slot in gradient.sinks.slots if slot.kind == SUMMED]
    shapes = [part.shape.as_list() for slot in summed for part in slot.parts]
    assert sorted(shapes) == [[3 * HIDDEN], [5 * HIDDEN]]


def test_training_keeps_no_weight(gradient):
    values = [tensor for tensors in kept(gradient.training) for tensor in tensors]
    assert values
    assert not [t for t in values if size_of_matrix(t) or t.dtype == tf.resource]


def test_training_keeps_ten_vectors_of_an_internal_node(gradient):
    """Five gates, tanh(c), and the four vectors that the children returned."""
    assert max(map(num_floats, kept(gradient.training))) == 10 * HIDDEN


def test_training_keeps_four_vectors_and_the_word_of_a_leaf(gradient):
    """Three gates and tanh(c)."""
    counts = [num_floats(tensors) for tensors in kept(gradient.training)]
    assert sorted(counts) == [0, 4 * HIDDEN + EMBEDDING, 10 * HIDDEN]


def test_beside_vectors_training_keeps_a_few_integers_of_a_node(gradient):
    of_parts = [
        num_bytes(tensors) - FLOAT_BYTES * num_floats(tensors)
        for tensors in kept(gradient.training)
    ]
    assert sum(of_parts) <= INTEGER_BYTES


def test_inference_keeps_nothing(root_op):
    assert not root_op.get_attr("keep")
    assert not kept(procedures_of(root_op))


def test_training_changes_only_the_call_that_it_differentiates(cell):
    with rtf.SubGraph("apply") as apply:
        n = apply.input(tf.int32)
        words = cell.embed(tf.zeros([], tf.int32))
        apply.output(tf.cond(n < 1, lambda: words, lambda: tf.tanh(apply(n - 1))))

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(apply(2))
        return tape.gradient(loss, cell.embedding)

    trained = find_root_op(train.get_concrete_function().graph)
    infer = tf.function(apply).get_concrete_function(2)
    assert trained.get_attr("keep")
    assert kept(procedures_of(trained))
    assert not kept(procedures_of(find_root_op(infer.graph)))


PRODUCTS = {
    "matmul, row first": lambda row, w: tf.matmul(row, w),
    "matmul, transposed": lambda row, w: tf.matmul(row, w, transpose_b=True),
    "matmul, weight first": lambda row, w: tf.transpose(
        tf.matmul(w, row, transpose_b=True)
    ),
    "matvec": lambda row, w: tf.linalg.matvec(w, row[0])[tf.newaxis],
    "tensordot": lambda row, w: tf.tensordot(row, w, 1),
    "@": lambda row, w: row @ w,
    "in a function": lambda row, w: tf.function(lambda y: y @ w)(row),
}


@pytest.mark.parametrize("form", PRODUCTS)
def test_a_product_with_a_weight_is_gathered_as_factors_in_every_form(form):
    w = tf.Variable(tf.ones([HIDDEN, HIDDEN]))
    with rtf.SubGraph("chain") as chain:
        row = chain.input(tf.float32, [1, HIDDEN])
        n = chain.input(tf.int32)
        result = tf.cond(
            n < 1, lambda: row, lambda: PRODUCTS[form](chain(row, n - 1), w)
        )
        chain.output(tf.ensure_shape(result, [1, HIDDEN]))
    infer = tf.function(chain).get_concrete_function(tf.ones([1, HIDDEN]), 2)
    gradient = gradient_of(find_root_op(infer.graph))
    assert [slot.is_product for slot in gradient.sinks.slots] == [True]
    shapes = [tensor.shape for tensor in computed(gradient.gradients)]
    assert tf.TensorShape([HIDDEN, HIDDEN]) not in shapes
    values = [tensor for tensors in kept(gradient.training) for tensor in tensors]
    assert tf.TensorShape([HIDDEN, HIDDEN]) not in [value.shape for value in values]
