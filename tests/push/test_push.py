"""Pushes: a value of every invocation, as a row of a table."""

import re

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of, message_of
from tests.helpers.subgraphs import define_fib
from tests.helpers.values import VALUES, as_numpy

pytestmark = pytest.mark.every_executor

# --- What a push does


def define_squares(size):
    """Returns a SubGraph that pushes n^2 for each number n below its argument."""
    with rtf.SubGraph("squares") as squares:
        n = squares.input(tf.int32)
        squares.push("square", n * n, index=n, size=size)
        squares.output(tf.cond(n < 1, lambda: 1, lambda: 1 + squares(n - 1)))
    return squares


def test_a_push_of_every_invocation_is_a_row_of_a_table():
    outputs, pushed = define_squares(size=5)(4, with_pushed=True)
    assert int(outputs) == 5
    assert pushed["square"].numpy().tolist() == [0, 1, 4, 9, 16]


def test_rows_that_nobody_pushed_are_zero():
    _, pushed = define_squares(size=6)(2, with_pushed=True)
    assert pushed["square"].numpy().tolist() == [0, 1, 4, 0, 0, 0]


def test_a_call_without_with_pushed_returns_the_outputs_alone():
    assert int(define_squares(size=5)(4)) == 5


def test_rows_of_a_map_push_into_one_table():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("ten", [n, 10 * n], index=n, size=4)
        f.output(n)
    _, pushed = f.map([3, 0, 1], with_pushed=True)
    assert pushed["ten"].numpy().tolist() == [[0, 0], [1, 10], [0, 0], [3, 30]]


def test_a_map_over_no_rows_gives_a_table_of_zeros():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", tf.stack([n, n]), index=n, size=3)
        f.output(n)
    _, pushed = f.map(tf.zeros([0], tf.int32), with_pushed=True)
    assert pushed["n"].numpy().tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("dtype", VALUES, ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_are_pushed(dtype):
    with rtf.SubGraph("f") as f:
        value = f.input(dtype)
        f.push("value", value, index=1, size=2)
        f.output(value)
    _, pushed = f(tf.constant(VALUES[dtype], dtype), with_pushed=True)
    zero = b"" if dtype == tf.string else 0
    assert pushed["value"].numpy().tolist() == [zero, VALUES[dtype]]


def test_a_push_in_a_branch_happens_if_it_is_taken():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def odd():
            f.push("odd", n, index=n, size=6)
            return f(n - 1)

        def even():
            return tf.cond(n < 1, lambda: 0, lambda: f(n - 1))

        f.output(tf.cond(tf.equal(n % 2, 1), odd, even))
    _, pushed = f(5, with_pushed=True)
    assert pushed["odd"].numpy().tolist() == [0, 1, 0, 3, 0, 5]


def test_subgraphs_of_a_program_push_to_one_table():
    with rtf.SubGraph("odd") as odd:
        n = odd.input(tf.int32)
        odd.push("seen", -n, index=n, size=4)
        odd.output(n)
    with rtf.SubGraph("even") as even:
        n = even.input(tf.int32)
        even.push("seen", n, index=n, size=4)
        even.output(odd(n + 1))
    _, pushed = even(2, with_pushed=True)
    assert pushed["seen"].numpy().tolist() == [0, 0, 2, -3]


def test_a_body_pushes_to_several_tables():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=1)
        f.push("half", tf.cast(n, tf.float32) / 2, index=n, size=tf.constant(2))
        f.output(n)
    _, pushed = f(1, with_pushed=True)
    assert as_numpy(pushed) == {"n": [1], "half": pytest.approx([0, 0.5])}


def test_an_invocation_that_returns_to_nobody_pushes():
    with rtf.SubGraph("leaf") as leaf:
        n = leaf.input(tf.int32)
        leaf.push("n", n, index=n, size=3)
        leaf.output(n)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        leaf(n)
        f.output(n)
    _, pushed = f(2, with_pushed=True)
    assert pushed["n"].numpy().tolist() == [0, 0, 2]


def test_a_recursion_whose_results_nobody_uses_pushes():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        f.push("n", n, index=n, size=4)
        tf.cond(n > 0, lambda: f(n - 1), lambda: n)
        f.output(n)
    _, pushed = f(3, with_pushed=True)
    assert pushed["n"].numpy().tolist() == [0, 1, 2, 3]


def test_values_without_elements_are_pushed():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("nothing", tf.zeros([2, 0]), index=n, size=3)
        f.output(n)
    _, pushed = f.map([0, 1], with_pushed=True)
    assert pushed["nothing"].shape == [3, 2, 0]


def test_a_program_without_pushes_has_no_tables():
    assert define_fib()(5, with_pushed=True)[1] == {}


def test_size_may_come_from_a_tensor_of_the_function_around():
    @tf.function
    def squares(n):
        return define_squares(size=n + 1)(n, with_pushed=True)[1]["square"]

    assert squares(tf.constant(3)).numpy().tolist() == [0, 1, 4, 9]


def test_size_may_come_from_a_variable():
    size = tf.Variable(2)
    squares = define_squares(size=size)
    size.assign(3)
    _, pushed = squares(1, with_pushed=True)
    assert pushed["square"].numpy().tolist() == [0, 1, 0]


def test_a_push_in_a_loop_happens_in_every_turn():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def step(k):
            f.push("k", k * k, index=k, size=4)
            return (k + 1,)

        f.output(tf.while_loop(lambda k: k < n, step, (0,))[0])
    _, pushed = f(4, with_pushed=True)
    assert pushed["k"].numpy().tolist() == [0, 1, 4, 9]


def test_pushed_tables_of_eager_calls_and_of_functions_are_equal():
    squares = define_squares(size=5)
    inside = tf.function(lambda n: squares(n, with_pushed=True)[1]["square"])
    eager = squares(4, with_pushed=True)[1]["square"]
    np.testing.assert_array_equal(inside(4), eager)


def test_constants_of_branches_and_loops_stay_where_they_are():
    """A branch, or a loop, that returns a constant and computes nothing."""
    with rtf.SubGraph("f", output_signature=tf.TensorSpec((), tf.int32)) as f:
        n = f.input(tf.int32)

        def count():
            def step(i, total):
                return i + 1, tf.cond(i < 2, lambda: 5, lambda: total + f(n - 1))

            return tf.while_loop(lambda i, _: i < 3, step, (0, 0))[1]

        f.output(tf.switch_case(n, [lambda: 7, lambda: 8, count]))

    assert [int(f(n)) for n in range(3)] == [7, 8, 5 + 8]


# --- What is refused


def define_push(index, value=None, size=3):
    """Returns a SubGraph that pushes what functions of its input say."""
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n if value is None else value(n), index=index(n), size=size)
        f.output(n)
    return f


@pytest.mark.parametrize("n", [3, -1])
def test_a_push_to_a_row_that_does_not_exist_is_an_error(n):
    f = define_push(index=lambda n: n)
    message = failure_of(lambda: f(n), tf.errors.OutOfRangeError)
    assert (
        f"SubGraph 'f' failed at f: push 'n' to row {n} is outside of [0, 3)" in message
    )


def test_a_second_push_to_a_row_is_an_error():
    f = define_push(index=lambda n: n // 2)
    message = failure_of(lambda: f.map([0, 1]))
    assert re.search(r"f\[row [01]\]: push 'n' to row 0 happened twice", message)


@pytest.mark.falls_back("an unknown shape")
def test_pushes_of_different_shapes_are_an_error():
    f = define_push(index=lambda n: n, value=tf.range)
    message = failure_of(lambda: f.map([1, 2]))
    assert "push 'n' got a value of shape [" in message
    assert "All values of one name need one shape." in message


@pytest.mark.traces_only
def test_pushes_of_different_dtypes_are_an_error():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=2)
        f.push("n", tf.cast(n, tf.float32), index=1, size=2)
        f.output(n)
    message = message_of(lambda: f(1))
    assert "push 'n' gets float32[] at" in message
    assert "and int32[] elsewhere" in message


@pytest.mark.parametrize("size", [10**15, 2**62])
def test_a_size_larger_than_memory_is_an_error(size):
    f = define_squares(size=tf.constant(size, tf.int64))
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        f(4, with_pushed=True)
    assert f"no memory for the {size} rows of push 'square'" in str(caught.value)
    assert "Check size= of the push." in str(caught.value)


def test_sizes_of_one_table_that_differ_only_at_run_time_are_an_error():
    size = tf.TensorSpec([], tf.int32)

    @tf.function(input_signature=[size, size])
    def push(one, other):
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.push("n", n, index=0, size=one)
            f.push("n", n, index=1, size=other)
            f.output(n)
        return f(7, with_pushed=True)[1]["n"]

    assert push(2, 2).numpy().tolist() == [7, 7]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not the same at all"):
        push(2, 3)


@pytest.mark.traces_only
def test_pushes_to_one_table_with_different_sizes_are_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=2)
        f.push("n", n, index=1, size=3)
        f.output(n)
    message = message_of(lambda: f(1))
    assert "push 'n' has size=2 in one place and size=3 in another" in message


@pytest.mark.parametrize(
    "place", [{"index": 1.5, "size": 2}, {"index": 1, "size": 2.5}]
)
@pytest.mark.traces_only
def test_a_push_to_a_fraction_is_refused(place):
    def define():
        with rtf.SubGraph("f") as f:
            f.push("n", f.input(tf.int32), **place)

    assert "of push 'n' is float32: it must be an integer" in message_of(define)


@pytest.mark.traces_only
def test_a_size_that_depends_on_an_input_is_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=n + 1)
        f.output(n)
    message = message_of(lambda: f(1))
    assert "size= of push 'n' depends on an input of the body" in message
    assert "compute it outside of the SubGraph" in message


@pytest.mark.traces_only
def test_a_size_that_depends_on_another_body_is_refused():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32, name="node")
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.push("k", k, index=k, size=n)
            inner.output(k)
        outer.output(inner(n))
    message = message_of(lambda: outer(1))
    assert "node:0, which another SubGraph's body computes" in message


@pytest.mark.traces_only
def test_a_size_that_depends_on_an_effect_is_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=tf.random.uniform([], 1, 5, tf.int32))
        f.output(n)
    assert "which has an effect" in message_of(lambda: f(1))


@pytest.mark.parametrize("size", [-1, [1, 2]], ids=str)
def test_a_size_that_is_no_size_is_an_error(size):
    f = define_push(index=lambda n: n, size=tf.constant(size))
    message = message_of(lambda: f(0), tf.errors.InvalidArgumentError)
    assert "size= of push 'n' must be a scalar that is not negative" in message


def test_a_push_to_several_rows_is_an_error():
    with rtf.SubGraph("f") as f:
        rows = f.input(tf.int32, None)
        f.push("n", 1, index=rows, size=3)
        f.output(rows)
    assert "failed at f: index= of a push must be a scalar" in failure_of(
        lambda: f([0, 1])
    )


@pytest.mark.falls_back("an unknown shape")
def test_a_table_of_unknown_shape_that_nobody_pushed_is_an_error():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def push():
            f.push("n", tf.range(n), index=0, size=2)
            return n

        f.output(tf.cond(n > 0, push, lambda: n))
    message = message_of(lambda: f(0), tf.errors.InvalidArgumentError)
    assert "no invocation pushed 'n', and its shape [?] is not known" in message


@pytest.mark.traces_only
def test_with_pushed_in_a_body_is_refused():
    fib = define_fib()

    def define():
        with rtf.SubGraph("f") as f:
            f.output(fib(f.input(tf.int32), with_pushed=True))

    message = message_of(define)
    assert (
        "with_pushed=True in a call to SubGraph 'fib' inside of the body of" in message
    )
    assert "only a root call gathers what all its invocations push" in message


@pytest.mark.traces_only
def test_a_composite_is_pushed_part_by_part():
    def define():
        with rtf.SubGraph("f") as f:
            rows = tf.RaggedTensor.from_row_lengths([1, 2], [2])
            f.push("rows", rows, index=0, size=1)
            f.output(f.input(tf.int32))

    assert "push 'rows' gets a RaggedTensor, and takes a tensor" in message_of(define)
