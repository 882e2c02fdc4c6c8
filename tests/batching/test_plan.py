"""A compiled plan computes what the dataflow executor does, and asks for few launches.

Plans are followed by tests/batching/interpreter.py, one activation at a time.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.encode.encoding import encode
from recursive_tf.python.batching.plan.plan import Source
from tests.batching.interpreter import Compiled, Interpreter
from tests.batching.tree import ROOT, define_tree_lstm
from tests.helpers.subgraphs import define_fib, define_power


def assert_same(subgraph, *arguments):
    """Runs the plan and the dataflow executor; returns the interpreter."""
    interpreter = Interpreter(Compiled(subgraph))
    found = interpreter.invoke(*arguments)
    outputs, pushed = subgraph(*arguments, with_pushed=True)
    for one, other in zip(found, tf.nest.flatten(outputs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    for rows, table in zip(interpreter.tables.values(), pushed.values(), strict=True):
        for index, row in rows.items():
            np.testing.assert_allclose(row, table[index], rtol=1e-6)
    return interpreter


def test_a_recursion_with_two_calls():
    interpreter = assert_same(define_fib(), 9)
    # The condition of every call, with what its calls get; and the sums.
    assert sorted(interpreter.runs.values()) == [54, 109]


def test_the_description_of_a_plan():
    assert Compiled(define_fib()).describe() == "\n".join(
        [
            "fib(v0)",
            "  v1, v2, v3 = block 0(v0): Less, Sub, Sub",
            "  v4.. = v1 ? fib/false(v2, v3) | fib/true(v0)",
            "  return v4",
            "fib/false(v0, v1)",
            "  v2.. = fib(v0)",
            "  v3.. = fib(v1)",
            "  v4 = block 1(v2, v3): AddV2",
            "  return v4",
            "fib/true(v0)",
            "  return v0",
        ]
    )


def test_a_tree_lstm():
    interpreter = assert_same(define_tree_lstm(), ROOT)
    # A block to look at a node, one for leaves, one for inner nodes.
    assert sorted(interpreter.runs.values()) == [2, 3, 5]


def test_a_branch_takes_what_it_uses_of_the_body_around():
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        y = tf.sin(x)
        f.output(tf.cond(n < 1, lambda: y, lambda: f(n - 1, y) * y + x))
    assert_same(f, 5, 0.3)


def test_conditionals_nest():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        odd = lambda: 3 * f(n - 1)  # noqa: E731
        even = lambda: tf.cond(n > 6, lambda: f(n - 2), lambda: f(n // 2) + n)  # noqa: E731
        more = lambda: tf.cond(tf.equal(n % 2, 1), odd, even)  # noqa: E731
        f.output(tf.cond(n < 2, lambda: 1, more))
    for n in range(12):
        assert_same(f, n)


@pytest.mark.parametrize("n", range(6))
def test_a_switch_case_takes_its_last_branch_for_other_numbers(n):
    with rtf.SubGraph("f") as f:
        m = f.input(tf.int32)
        branches = [lambda: 0, lambda: 10 + f(m - 1), lambda: 100 * f(m - 1)]
        f.output(tf.switch_case(m, branches, default=lambda: f(m - 1) + f(m - 2)))
    assert_same(f, n)


def test_a_conditional_without_calls():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        sign = tf.cond(tf.equal(n % 2, 0), lambda: 1, lambda: -1)
        f.output(tf.cond(n < 1, lambda: 0, lambda: sign * n + f(n - 1)))
    assert_same(f, 7)


@pytest.mark.parametrize("flag", [True, False])
def test_a_conditional_that_all_activations_take_alike(flag):
    doubles = tf.Variable(flag)
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        y = tf.cond(doubles, lambda: 2.0 * x, lambda: tf.sin(x))
        f.output(tf.cond(n < 1, lambda: y, lambda: f(n - 1, y) + x))
    assert_same(f, 3, 0.5)


def test_a_conditional_of_captures_alone_is_of_the_prologue():
    weight = tf.Variable(3.0)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        step = tf.cond(weight > 2.0, lambda: weight - 1.0, lambda: 0.5)
        f.output(tf.cond(n < 1, lambda: 0.0, lambda: f(n - 1) + step))
    assert_same(f, 3)
    types = [op.type for block in Compiled(f).blocks for op in block.ops]
    assert sorted(types) == ["AddV2", "Less", "Sub"]


def test_a_call_decides_what_is_called_next():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        down = lambda: tf.cond(f(n - 1) % 2 < 1, lambda: n, lambda: f(n - 2) + 1)  # noqa: E731
        f.output(tf.cond(n < 2, lambda: n, down))
    assert_same(f, 9)


def test_a_call_of_a_calls_result():
    with rtf.SubGraph("mc91") as mc91:
        n = mc91.input(tf.int32)
        mc91.output(tf.cond(n > 100, lambda: n - 10, lambda: mc91(mc91(n + 11))))
    assert_same(mc91, 95)


def test_subgraphs_call_each_other():
    even, odd = rtf.SubGraph("even"), rtf.SubGraph("odd")
    with even:
        n = even.input(tf.int32)
        even.output(tf.cond(n < 1, lambda: True, lambda: odd(n - 1)))
    with odd:
        m = odd.input(tf.int32)
        odd.output(tf.cond(m < 1, lambda: False, lambda: even(m - 1)))
    assert_same(even, 7)


def test_hidden_inputs_are_arguments():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            m = inner.input(tf.int32)
            inner.output(tf.cond(m < 1, lambda: n, lambda: inner(m - 1) + n))
        f.output(tf.cond(n < 1, lambda: 0, lambda: inner(3) + f(n - 1)))
    assert_same(f, 4)


def test_a_weight_is_read_once():
    power = define_power(tf.Variable(2.0))
    assert_same(power, 5, 1.5)


def test_what_depends_on_no_activation_is_of_the_prologue():
    weight = tf.Variable(2.0)
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        f.output(tf.cond(n < 1, lambda: weight * 3.0, lambda: f(n - 1, weight) + x))
    interpreter = assert_same(f, 3, 1.0)
    assert "once" in Compiled(f).describe()
    assert len(interpreter.runs) == 2


def test_a_procedure_that_only_returns_has_no_block():
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32)
        f.output(x, x)
    assert not assert_same(f, 1.0).runs


def test_what_nobody_reads_is_not_computed():
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32)
        tf.exp(x)
        f.output(x)
    assert not Compiled(f).blocks


def test_the_same_op_in_a_branch_and_around_it_is_computed_once():
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32)
        more = lambda: f(tf.floor(x) - 1.0) + tf.floor(x)  # noqa: E731
        f.output(tf.cond(tf.floor(x) < 0.0, lambda: x, more))
    types = [op.type for block in Compiled(f).blocks for op in block.ops]
    assert types.count("Floor") == 1
    assert_same(f, 0.5)


def test_an_op_whose_gradient_may_be_infinite_stays_in_its_branch():
    with rtf.SubGraph("f") as f:
        x = f.input(tf.float32)
        more = lambda: f(tf.sqrt(x) - 1.0) + tf.sqrt(x)  # noqa: E731
        f.output(tf.cond(tf.sqrt(x) < 1.0, lambda: x, more))
    types = [op.type for block in Compiled(f).blocks for op in block.ops]
    assert types.count("Sqrt") == 2
    assert_same(f, 2.5)


def test_an_op_that_nothing_holds_after_a_call_is_no_launch_of_its_own():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        result = tf.cond(n < 1, lambda: 0, lambda: f(n - 1))
        f.output(result)
        f.push("n", result, index=tf.cast(n, tf.int64), size=10)
    assert len(Compiled(f).blocks) == 1
    assert_same(f, 6)


def test_a_plan_is_encoded_as_numbers():
    assert encode(Compiled(define_fib()).plan) == [
        *(3, 0, 2, 3),  # version, prologue, blocks, procedures
        *(0, 1, 5, 1, 4, 0, 1),  # fib: an argument, 5 slots, returns slot 4, one stage:
        *(0, 1, 1, 0, 1, 3, 0, 1),  # block 0 of slot 0, to 3 from slot 1; a call
        *(0, 0, 1, 1, 4, 2),  # by slot 1, to slot 4: one of two
        *(1, 2, 2, 3),  # procedure 1 with slots 2 and 3
        *(2, 1, 0),  # procedure 2 with slot 0
        0,  # no lists
        *(1, 2, 5, 1, 4, 0, 2),  # the recursion: two stages:
        *(-1, 0, 0, 0, 0, 2),  # no block; two calls
        *(0, 0, 0, 0, 2, 1, 0, 1, 0),  # fib at call site 0, of slot 0 to slot 2
        *(1, 0, 0, 0, 3, 1, 0, 1, 1),  # and at call site 1
        *(1, 2, 1, 2, 1, 3, 4, 1, 0, 0),  # block 1 of slots 2 and 3, to slot 4
        0,  # no lists
        *(1, 1, 1, 1, 0, 0, 0),  # the base: returns its argument
        0,  # no lists
    ]


def test_an_output_of_the_prologue_is_encoded_below_zero():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: 7, lambda: f(n - 1)))
    base = Compiled(f).plan.procedures[-1]
    assert base.outputs == (Source(0, of_prologue=True),)
    assert encode(Compiled(f).plan)[-5:] == [
        1,
        ~0,
        0,
        0,
        0,
    ]  # One output; no stage, no list.


def test_two_compilations_give_the_same_plan():
    one, other = (Compiled(define_tree_lstm()) for _ in range(2))
    assert one.describe() == other.describe()


def test_a_loop_is_a_procedure_with_a_turn_that_begins_it_again():
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([], tf.int32)) as f:
        n = f.input(tf.int32)
        turn = lambda i, total: (i + 1, total + f(i))  # noqa: E731
        f.output(tf.while_loop(lambda i, _: i < n, turn, (0, 1))[1])
    compiled = Compiled(f)
    assert (
        compiled.describe()
        == """\
f(v0)
  v1.. = f/loop(once0, once0, once1, v0)
  return v3
f/loop(v0, v1, v2, v3)
  v4 = block 0(v1, v3): Less
  v5.. = v4 ? f/loop/end(v0, v1, v2) | f/loop/turn(v1, v2, v0, v3)
  return v5, v6, v7
f/loop/turn(v0, v1, v2, v3)
  v4.. = f(v0)
  v5, v6, v7 = block 1(v0, v1, v4, v2): AddV2, AddV2, AddV2
  goes on: f/loop(v7, v5, v6, v3)
f/loop/end(v0, v1, v2)
  return v0, v1, v2"""
    )
    assert [int(Interpreter(compiled).invoke(n)[0]) for n in range(6)] == [
        2**n for n in range(6)
    ]
