"""How a block is vectorized, whatever its ops are; rules are in test_rules_*.py."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.refusal import CannotBatchError, RuleError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules import rule_of
from tests.batching.interpreter import Compiled, types_of
from tests.batching.rows import (
    INDEX,
    VECTOR,
    assert_rows_are_alike,
    define_body,
    run,
    vectorized,
)
from tests.batching.tree import define_tree_lstm

ROWS = 5
MATRIX = tf.random.stateless_normal([3, 4], [7, 7])
VARIABLE = tf.Variable(tf.ones([3]))


def test_blocks_of_a_tree_lstm():
    graphs = assert_rows_are_alike(define_tree_lstm())
    assert [types_of(graph) for graph in graphs] == [
        [
            *("GatherV2", "Less", "LogicalNot", "Reshape"),
            *("RecursiveWantedIds", "GatherNd"),
        ],
        [
            *("MatMul", "AddV2", "Split"),
            *("Sigmoid", "Tanh", "Mul", "Sigmoid", "Mul", "AddV2", "Sigmoid", "Mul"),
            *("AddV2", "Sigmoid", "Tanh", "Mul"),
        ],
        ["GatherV2", "ResourceGather", "Tanh"],
    ]


LOOKUPS = {
    "gather": tf.gather,
    "index": lambda table, n: table[n],
    "index_from_the_end": lambda table, n: table[n - 4],
    "indices": lambda table, n: tf.reshape(table, [4, 1])[n, 0 * n],
}


@pytest.mark.parametrize("look_up", LOOKUPS.values(), ids=LOOKUPS)
def test_a_lookup_for_a_branch_that_is_not_taken_does_not_fail(look_up):
    table = tf.constant([1, 2, 5, 5])

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        next_one = lambda: f(look_up(table, n))  # noqa: E731
        f.output(tf.cond(n > 3, lambda: n, next_one))
    compiled = Compiled(f)
    ((graph, invariants), *_) = vectorized(compiled)
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
    ((graph, invariants), *_) = vectorized(compiled)
    (taken,) = run(graph, [tf.constant([0, 5, 2]), *invariants])
    assert taken.numpy().tolist() == [False, True, False]


def test_what_no_row_changes_is_computed_once():
    (graph,) = assert_rows_are_alike(
        define_body(lambda x: tf.tanh(MATRIX[:, 0]) * x, VECTOR)
    )
    assert types_of(graph) == ["Mul"]


def test_a_long_chain_of_what_no_row_changes():
    def body(x):
        y = MATRIX[:, 0]
        for _ in range(2000):
            y = tf.negative(y)
        return x + y

    ((graph, (shared,)),) = vectorized(Compiled(define_body(body, VECTOR)))
    assert types_of(graph) == ["AddV2"]
    np.testing.assert_array_equal(shared, MATRIX[:, 0])


def test_a_long_chain_of_rows():
    def body(x):
        for _ in range(2000):
            x = tf.negative(x)
        return x

    ((graph, _),) = vectorized(Compiled(define_body(body, VECTOR)))
    assert types_of(graph) == ["Neg"] * 2000


def test_an_output_that_nobody_reads_may_have_any_shape():
    body = lambda x: tf.unique_with_counts(x)[1]  # noqa: E731
    with pytest.raises(CannotBatchError, match="no rule"):
        vectorized(Compiled(define_body(body, VECTOR)))


def test_a_resource_of_the_row_is_refused():
    with rtf.SubGraph("f") as f:
        handle = f.input(tf.TensorSpec([], tf.resource))
        value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
        f.output(tf.ensure_shape(value, [3]) + 1.0)
    with pytest.raises(CannotBatchError, match="a resource goes from one block"):
        vectorized(Compiled(f))


def test_what_tensorflow_cannot_vectorize_is_refused():
    """Its converter raises that an input is expected to be loop invariant."""
    body = lambda n: tf.raw_ops.BatchToSpaceND(  # noqa: E731
        input=tf.ones([4, 1, 1]), block_shape=n, crops=[[0, 0]]
    )
    sized = lambda n: tf.ensure_shape(body(n), [1, 4, 1])  # noqa: E731
    compiled = Compiled(define_body(sized, tf.TensorSpec([1], tf.int32)))
    why = r"BatchToSpaceND .*test_vectorized_blocks.py:\d+: .*cannot vectorize it \(Inp"
    with pytest.raises(CannotBatchError, match=why):
        vectorized(compiled)


# --- Rules of users


def vectorize_sine(rule):
    """Vectorizes a block with a sine by a rule."""
    compiled = Compiled(define_body(lambda x: tf.sin(x), VECTOR))
    return vectorized(compiled, lambda op: rule if op.type == "Sin" else rule_of(op))


def test_what_depends_on_the_number_of_rows_is_refused():
    def count_rows(block, op, inputs):
        del op
        return [inputs[0].tensor * float(block.num_rows)]

    with pytest.raises(CannotBatchError, match="how many rows there are"):
        vectorize_sine(count_rows)


def test_a_rule_may_build_with_the_number_of_rows():
    def twice(block, op, inputs):
        del op
        both = tf.reshape(tf.concat([inputs[0].tensor] * 2, 0), [2 * block.num_rows, 3])
        return [both[: block.num_rows]]

    ((graph, invariants),) = vectorize_sine(twice)
    rows = tf.random.stateless_normal([ROWS, 3], [1, 2])
    np.testing.assert_array_equal(run(graph, [rows, *invariants])[0], rows)


def test_a_rule_may_find_that_all_rows_are_the_same():
    ((graph, invariants),) = vectorize_sine(
        lambda block, *_: [block.once(lambda: tf.ones([3]))]
    )
    (found,) = run(graph, [tf.zeros([ROWS, 3]), *invariants])
    np.testing.assert_array_equal(found, tf.ones([ROWS, 3]))


MISTAKES = {
    "nothing": (lambda *_: None, "a list of 1 outputs, .* an object of type NoneType"),
    "no list": (
        lambda block, op, inputs: inputs[0].tensor,
        "a list of 1 outputs, .* an object of type SymbolicTensor",
    ),
    "too many": (lambda block, op, inputs: inputs * 2, "1 outputs, .* 2"),
    "another shape": (
        lambda block, op, inputs: [inputs[0].tensor[:, :2]],
        r"float32\[N, 3\] as output 0, for N rows, but returned float32\[N, 2\]",
    ),
    "no rows": (
        lambda block, op, inputs: [inputs[0].tensor[0]],
        r"float32\[N, 3\] .* returned float32\[3\]",
    ),
    "another type": (
        lambda block, op, inputs: [tf.cast(inputs[0].tensor, tf.int32)],
        r"float32\[N, 3\] .* returned int32\[N, 3\]",
    ),
    "no tensor": (lambda *_: [1.0], r"float32\[N, 3\] .* an object of type float"),
    "a tensor of elsewhere": (
        lambda *_: [MATRIX],
        r"float32\[N, 3\] .* a tensor of another graph",
    ),
    "rows as what is shared": (
        lambda block, op, inputs: [Operand(inputs[0].tensor, is_row=False)],
        r"float32\[3\] .* a tensor of another graph",
    ),
    "what uses a variable": (
        lambda block, op, inputs: [inputs[0].tensor + VARIABLE],
        "what it makes of its inputs, .* uses other tensors or variables",
    ),
}


@pytest.mark.parametrize(("rule", "why"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_rule_is_not_taken_for_a_refusal(rule, why):
    where = r"The rule for Sin, used for 'Sin' at \S+test_vectorized_blocks.py:\d+"
    with pytest.raises(RuleError, match=f"{where}, should return {why}"):
        vectorize_sine(rule)


def test_what_a_rule_raises_is_passed_on():
    def fail(block, op, inputs):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        vectorize_sine(fail)


def test_a_result_of_a_shape_that_tensorflow_does_not_know_has_the_rows_shape():
    def hidden(block, op, inputs):
        del op
        size = tf.reduce_sum(tf.ones_like(inputs[0].tensor[:, 0], tf.int32))
        return [tf.reshape(inputs[0].tensor, tf.stack([size, 3]))]

    ((graph, _),) = vectorize_sine(hidden)
    rows = tf.random.stateless_normal([ROWS, 3], [1, 2])
    np.testing.assert_array_equal(run(graph, [rows])[0], rows)


def test_an_index_is_an_input_like_any_other():
    assert_rows_are_alike(define_body(lambda n: tf.cast(n, tf.float64), INDEX))
