"""What may run where nobody wants it, and what becomes of the rest."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.flatten.total import is_smooth, is_total_and_smooth
from recursive_tf.python.batching.vectorize.prologue import Prologue
from tests.batching.interpreter import Compiled

W = tf.TensorSpec([3, 2])


def last_op(function, *specs):
    """Returns the op that computes what a function of tensors returns."""
    graph = tf.function(function).get_concrete_function(*specs).graph
    tensor = graph.outputs[0]
    return tensor.op.inputs[0].op if tensor.op.type == "Identity" else tensor.op


def is_free(function, *specs):
    op = last_op(function, *specs)
    return is_total_and_smooth(op, op.inputs)


@pytest.mark.parametrize(
    "function",
    [
        lambda w: w + 1.0,
        lambda w: w * 0.5,
        lambda w: tf.transpose(w),
        lambda w: tf.reshape(w, [6]),
        lambda w: w[2],
        lambda w: w[:, :1],
        lambda w: tf.concat([w, w], 0),
        lambda w: tf.gather(w, [0, 2]),
        lambda w: tf.reduce_sum(w, 0),
        lambda w: tf.where(w > 0.0, w, 0.0),
        lambda w: tf.cast(w, tf.int32),
        lambda w: tf.cast(w, tf.int32) * tf.cast(w, tf.int32),
    ],
)
def test_what_moves_chooses_or_adds_is_total_and_smooth(function):
    assert is_free(function, W)


@pytest.mark.parametrize(
    "function",
    [
        lambda w: w * w,
        lambda w: w * float("inf"),
        lambda w: w / w,
        lambda w: tf.sqrt(w),
        lambda w: tf.math.log(w),
        lambda w: tf.matmul(w, w, transpose_b=True),
        lambda w: tf.nn.softmax(w),
        lambda w: tf.reduce_max(w),
        lambda w: tf.cast(w, tf.int32) // tf.cast(w, tf.int32),
        lambda w: tf.gather(w, tf.cast(w[0, 0], tf.int32)),
        lambda w: w[tf.cast(w[0, 0], tf.int32)],
        lambda w: tf.linalg.inv(w[:2]),
    ],
)
def test_what_fails_or_multiplies_by_a_value_is_not(function):
    assert not is_free(function, W)


def test_sizes_that_may_not_fit_may_fail():
    unknown = tf.TensorSpec([None])
    assert not is_free(lambda a, b: a + b, unknown, unknown)
    assert is_free(lambda a: a + 1.0, unknown)


def test_links_of_any_number_of_nodes_are_cut_and_joined():
    links = tf.TensorSpec([None, 2], tf.int32)
    assert is_free(lambda t: t[:, 1], links)
    assert is_free(lambda t: tf.concat([t, t], 0), links)
    assert is_free(lambda t: tf.pad(t, [[0, 1], [0, 0]]), links)
    assert not is_free(lambda t: t[7], links)
    assert not is_free(lambda t: tf.concat([t, t], 1), links)


def test_what_has_no_gradient_is_smooth_also_if_it_may_fail():
    op = last_op(lambda n: n // n, tf.TensorSpec([], tf.int32))
    assert is_smooth(op, op.inputs)
    assert not is_total_and_smooth(op, op.inputs)


def test_what_of_captures_is_late():
    w = tf.Variable(tf.ones([3, 2]))
    with rtf.SubGraph("f") as f:
        x = f.input(tf.TensorSpec([2]))
        f.output(tf.linalg.matvec(w, x) + tf.sqrt(w[0, 0]) + w[:, 1])
    compiled = Compiled(f)
    prologue = Prologue(compiled.program)
    late = {
        tensor.op.type
        for op in compiled.blocks[0].ops
        for tensor in compiled.program.inputs_of(op)
        if not compiled.program.is_row(tensor)
        and prologue.is_late(prologue.copy(tensor))
    }
    assert late == {"Sqrt"}


def test_a_product_is_not_computed_for_calls_that_are_not_made():
    with rtf.SubGraph("f") as f:
        x, n = f.input(tf.float32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: x, lambda: f(x * x + 1.0, n - 1)))
    places = Compiled(f).stages.place.items()
    moved = {op.type for op, (procedure, _) in places if op not in procedure.ops}
    assert moved == {"Sub"}


def test_a_branch_that_returns_what_is_late_has_a_block_for_it():
    w = tf.Variable(2.0)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: tf.sqrt(w), lambda: f(n - 1)))
    compiled = Compiled(f)
    assert not compiled.plan.prologue
    assert [block.procedure.name for block in compiled.blocks] == ["f", "f/true"]
