"""What the parts of a block's gradient take, give and refuse."""

import gc

import pytest
import tensorflow as tf

from examples.tree_lstm import TreeLSTMCell
from recursive_tf.python import tf_compat
from recursive_tf.python.batching.differentiate.training_block import (
    KeptFrom,
    make_training_block,
)
from recursive_tf.python.batching.graphs.draft import Draft
from recursive_tf.python.batching.refusal import CannotBatchError
from tests.batching.interpreter import Compiled
from tests.batching.rntn import define_rntn
from tests.batching.rows import INDEX, VECTOR, define_body
from tests.batching.training import Training
from tests.batching.tree import define_tree

MATRIX = tf.Variable(tf.random.stateless_normal([3, 3], [1, 2]))
BIAS = tf.Variable(tf.random.stateless_normal([3], [1, 3]))
TABLE = tf.Variable(tf.random.stateless_normal([8, 3], [3, 4]))


def by(matrix, x):
    return tf.linalg.matvec(matrix, x, transpose_a=True)


def only_block(body, *specs, **options):
    (block,) = Training(define_body(body, *specs), **options).blocks
    return block


def bytes_kept(block, *sources):
    rows = zip(block.kept, block.deferred.inputs, strict=False)
    return sum(
        t.shape[1:].num_elements() * t.dtype.size
        for kept, t in rows
        if kept.source in sources
    )


def products(graph):
    return [op for op in graph.get_operations() if op.type == "MatMul"]


def test_a_tree_lstm_keeps_few_bytes():
    cell = TreeLSTMCell(vocabulary_size=10, embedding_size=300, hidden=150)
    tree = define_tree(lambda token: cell.leaf(cell.embed(token)), cell)
    _, internal, leaf = Training(tree).blocks
    # The gradients of the gates, and the states of the children.
    assert bytes_kept(internal, *KeptFrom) <= 4200
    # The gradients of the state; the gates, the node, and its word's vector, which may
    # be another one when it is looked up again.
    assert bytes_kept(leaf, KeptFrom.COTANGENT) <= 1200
    assert bytes_kept(leaf, *KeptFrom) <= 4804


def test_an_rntn_keeps_few_bytes():
    """Its tensor's gradient is of outer products, which are made again."""
    _, internal, _ = Training(define_rntn(units=20)).blocks
    assert bytes_kept(internal, *KeptFrom) <= 240


def test_gradients_of_lookups_stay_slices():
    block = only_block(lambda n: tf.tanh(tf.gather(TABLE, n)), INDEX)
    ((table, is_slices),) = block.invariant_gradients
    assert is_slices
    assert table.dtype == tf.resource
    values, indices = block.deferred.outputs
    assert values.shape.as_list() == [None, 3]
    assert indices.shape.as_list() == [None]


def test_a_table_that_is_also_multiplied_by_has_both_kinds_of_gradient():
    table = tf.constant(TABLE) * 1.0
    block = only_block(
        lambda n, x: tf.gather(table, n) * tf.linalg.matvec(table, x)[:3], INDEX, VECTOR
    )
    tensors, kinds = zip(*block.invariant_gradients, strict=True)
    assert tensors[0] is tensors[1]
    assert kinds == (False, True)


def test_what_has_no_gradient_has_no_parts():
    block = only_block(lambda n: n + 1, INDEX)
    assert block.backward is None
    assert block.deferred is None
    assert block.tape == block.cotangents == block.kept == ()


def test_a_gradient_that_nothing_waits_for_is_one_part():
    matrix, table = tf.Variable(MATRIX), tf.Variable(TABLE)
    block = only_block(lambda n: tf.tanh(by(matrix, tf.gather(table, n))), INDEX)
    assert block.backward is None
    assert len(products(block.deferred)) == 2
    assert {kept.source for kept in block.kept} == {
        KeptFrom.FORWARD,
        KeptFrom.COTANGENT,
    }


def test_integers_have_no_gradients():
    block = only_block(lambda n, x: (n + 1, tf.cast(n, tf.float32) * x), INDEX, VECTOR)
    assert block.input_gradients == (1,)
    assert block.cotangents == (1,)


def test_products_with_a_transposed_matrix_take_it_as_it_is():
    """It is transposed where that pays, which is known when it runs."""
    block = only_block(lambda x: tf.tanh(by(MATRIX, x)), VECTOR)
    (product,) = products(block.backward)
    assert product.get_attr("transpose_b")
    (matrix,) = block.backward_invariants
    assert matrix.op.type == "Placeholder"


def test_an_op_without_a_gradient_is_refused_with_its_line():
    with pytest.raises(CannotBatchError, match="cannot be differentiated") as why:
        only_block(lambda x: tf.truncatemod(x, 2.0), VECTOR)
    assert "test_training_parts.py:" in why.value.place


def test_an_op_without_a_gradient_may_be_where_none_is_wanted():
    block = only_block(lambda x: x * tf.truncatemod(tf.stop_gradient(x), 2.0), VECTOR)
    assert block.input_gradients == (0,)


@tf_compat.RegisterGradient("Scaling")
def _scaled(op, gradient):
    del op
    return gradient * BIAS


def scaled(x):
    with tf_compat.default_graph().gradient_override_map({"Tanh": "Scaling"}):
        return tf.tanh(x)


def test_a_custom_gradient_is_refused_rather_than_lost():
    with pytest.raises(CannotBatchError, match="a gradient of its own"):
        only_block(scaled, VECTOR)


def test_what_depends_on_the_number_of_rows_is_refused():
    def count_rows(block, op, inputs):
        del op
        return [inputs[0].tensor * float(block.num_rows)]

    compiled = Compiled(define_body(tf.sin, VECTOR))
    prologue, (block,) = compiled.vectorize(lambda _: count_rows)
    with pytest.raises(CannotBatchError, match="how many rows there are"):
        make_training_block(block, compiled.wanted(prologue))


def num_drafts():
    """Returns how many drafts there are, also those that only wait for a collection."""
    return sum(isinstance(found, Draft) for found in gc.get_objects())


def test_what_a_block_is_compiled_through_needs_no_garbage_collection():
    compiled = Compiled(define_body(tf.sin, VECTOR))
    gc.collect()
    gc.disable()
    try:
        before = num_drafts()
        prologue, (block,) = compiled.vectorize()
        assert num_drafts() > before
        made = make_training_block(block, compiled.wanted(prologue))
        del block
        assert num_drafts() == before
    finally:
        gc.enable()
    assert made.forward.get_operations()


def test_no_part_asks_while_it_runs_what_was_broadcast():
    """For one row the answer would be another one."""
    block = only_block(
        lambda x: tf.tanh(tf.matmul(x[tf.newaxis, tf.newaxis], MATRIX[tf.newaxis])[0]),
        VECTOR,
    )
    types = [op.type for op in block.backward.get_operations()]
    assert "BroadcastGradientArgs" not in types
