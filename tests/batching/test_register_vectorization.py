"""Users say how an op is vectorized: `rtf.register_vectorization`."""

import re

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.rules import restored_rules


@pytest.fixture(autouse=True)
def rules():
    with restored_rules():
        yield


def define(body, *specs, executor="auto"):
    """Returns a SubGraph that computes something of its inputs."""
    with rtf.SubGraph("f", executor=executor) as f:
        f.output(body(*(f.input(spec) for spec in specs)))
    return f


def invert(x):
    return tf.math.invert_permutation(x)


PERMUTATION = tf.TensorSpec([3], tf.int32)
PERMUTATIONS = [[2, 0, 1], [0, 1, 2], [1, 2, 0]]


def register_inverse():
    @rtf.register_vectorization("InvertPermutation")
    def rule(block, op, inputs):
        return [tf.cast(tf.argsort(block.all_rows(inputs[0])), op.outputs[0].dtype)]


def inverse(block, op, inputs):
    return [tf.cast(tf.argsort(block.all_rows(inputs[0])), op.outputs[0].dtype)]


def test_in_a_block_a_rule_holds_for_what_is_compiled_there():
    with rtf.register_vectorization("InvertPermutation", rule=inverse):
        f = define(invert, PERMUTATION)
        assert rtf.explain(f).executor == "batched"
    assert rtf.explain(define(invert, PERMUTATION)).executor == "dataflow"
    assert rtf.explain(f).executor == "batched"


def test_after_a_block_the_rule_of_before_holds_also_if_an_error_ends_it():
    def refuse(block, op, inputs):
        raise rtf.CannotBatchError(op, "not here")

    register_inverse()
    block = rtf.register_vectorization("InvertPermutation", rule=refuse)
    for _ in range(2):
        with pytest.raises(KeyError), block:
            raise KeyError
        with block, block:
            assert rtf.explain(define(invert, PERMUTATION)).executor == "dataflow"
        assert rtf.explain(define(invert, PERMUTATION)).executor == "batched"


def test_a_block_without_a_rule_is_refused():
    with pytest.raises(TypeError, match="rule=function"):
        rtf.register_vectorization("InvertPermutation").__enter__()


def test_a_rule_makes_a_program_batched():
    assert rtf.explain(define(invert, PERMUTATION)).executor == "dataflow"
    register_inverse()
    f = define(invert, PERMUTATION)
    explanation = rtf.explain(f)
    assert explanation.executor == "batched"
    np.testing.assert_array_equal(
        f.map(PERMUTATIONS), [[1, 2, 0], [0, 1, 2], [2, 0, 1]]
    )
    assert list(explanation.rows_per_launch.values()) == [3]


@pytest.mark.falls_back("there is no rule at first")
def test_a_rule_is_looked_up_when_a_program_is_compiled():
    f = define(invert, PERMUTATION)
    f([0, 2, 1])
    register_inverse()
    assert rtf.explain(f).executor == "dataflow"


def test_a_rule_is_gone_after_the_tests_body():
    with restored_rules():
        register_inverse()
    assert rtf.explain(define(invert, PERMUTATION)).executor == "dataflow"


def test_a_rule_may_be_for_several_types_and_replaces_what_is_there():
    seen = []

    @rtf.register_vectorization("Sin", "Cos")
    def rule(block, op, inputs):
        seen.append(op.type)
        return block.add_like(op, [block.tensor(inputs[0])])

    f = define(lambda x: tf.sin(x) + tf.cos(x), tf.TensorSpec([], tf.float32))
    np.testing.assert_allclose(f(0.0), 1.0)
    assert set(seen) == {"Sin", "Cos"}


def register_line():
    @rtf.register_vectorization("LinSpace")
    def linspace(block, op, inputs):
        start, stop = (block.all_rows(operand) for operand in inputs[:2])
        return [tf.linspace(start, stop, block.shared(op, 2, inputs), axis=1)]


def line(stop):
    return tf.raw_ops.LinSpace(start=1.0, stop=stop, num=4) ** 2


def test_what_a_rule_adds_is_differentiated():
    register_line()
    f = define(line, tf.TensorSpec([], tf.float32), executor="batched")
    stops = tf.constant([2.0, 4.0, 0.5])
    with tf.GradientTape() as tape:
        tape.watch(stops)
        y = f.map(stops)
    steps = np.arange(4) / 3
    lines = 1 + (stops.numpy()[:, None] - 1) * steps
    np.testing.assert_allclose(y, lines**2, rtol=1e-5)
    np.testing.assert_allclose(
        tape.gradient(y, stops), (2 * lines * steps).sum(1), rtol=1e-5
    )


def test_an_input_that_must_be_shared_and_is_not_is_a_reason():
    register_line()
    f = define(
        lambda n: tf.ensure_shape(
            tf.raw_ops.LinSpace(start=0.0, stop=1.0, num=n), [None]
        )[0],
        tf.TensorSpec([], tf.int32),
    )
    (reason,) = rtf.explain(f).reasons
    assert re.search(r"LinSpace .*test_register_vectorization.py:\d+: ", reason)


def test_a_rule_refuses_what_it_cannot_do():
    @rtf.register_vectorization("InvertPermutation")
    def rule(block, op, inputs):
        raise rtf.CannotBatchError(op, f"{inputs[0].shape[0]} are too many.")

    (reason,) = rtf.explain(define(invert, PERMUTATION)).reasons
    assert "3 are too many." in reason
    assert f"test_register_vectorization.py:{invert.__code__.co_firstlineno + 1}" in (
        reason
    )


WRONG = {
    "no list": (lambda rows: rows, "a list of 1 outputs, but returned an object"),
    "too many": (lambda rows: [rows, rows], "1 outputs, but returned 2"),
    "another dtype": (
        lambda rows: [tf.cast(rows, tf.float32)],
        r"\[N, 3\].* as output 0, for N rows, but returned",
    ),
    "another shape": (
        lambda rows: [rows[:, :2]],
        r"as output 0, for N rows, but returned .*\[N, 2\]",
    ),
    "no tensor": (lambda _: [3], "but returned an object of type int"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_rule_that_returns_something_else_is_an_error(case):
    result_of, message = case

    @rtf.register_vectorization("InvertPermutation")
    def rule(block, op, inputs):
        del op
        return result_of(block.all_rows(inputs[0]))

    f = define(invert, PERMUTATION)
    with pytest.raises(rtf.RuleError, match=message) as error:
        f([0, 1, 2])
    assert "The rule for InvertPermutation" in str(error.value)
    assert "test_register_vectorization.py:" in str(error.value)


def test_a_rule_that_uses_other_tensors_is_an_error():
    other = tf.Variable([1, 2, 3])

    @rtf.register_vectorization("InvertPermutation")
    def rule(block, op, inputs):
        del op
        return [block.all_rows(inputs[0]) + other]

    with pytest.raises(rtf.RuleError, match="uses other tensors or variables"):
        define(invert, PERMUTATION)([0, 1, 2])


def test_a_rule_that_counts_rows_is_refused():
    @rtf.register_vectorization("InvertPermutation")
    def rule(block, op, inputs):
        del op
        return [block.all_rows(inputs[0]) + block.num_rows % 7]

    (reason,) = rtf.explain(define(invert, PERMUTATION)).reasons
    assert "depends on how many rows there are" in reason
