"""What calls take and return: structures, dtypes, shapes; and how they are checked."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of, message_of
from tests.helpers.subgraphs import (
    define_fib,
    define_hand_down,
    define_pair,
    define_triangle,
)
from tests.helpers.values import VALUES, Pair, as_numpy

# --- Structures, dtypes, shapes


STRUCTURES = {
    "tuple": (1, 2.5),
    "one in a tuple": (1,),
    "list": [1, 2.5, 3],
    "dict": {"h": 1.5, "c": 2},
    "named tuple": Pair(1, 2.5),
    "nested": {"pairs": [Pair(1, (2.5, 3)), Pair(4, (5.5, 6))], "n": 7},
}


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_structures_go_in_and_out_as_they_are(structure):
    specs = tf.nest.map_structure(lambda x: tf.convert_to_tensor(x).dtype, structure)
    found = as_numpy(define_hand_down(specs)(3, structure))
    assert found == structure
    assert type(found) is type(structure)


def test_an_output_may_be_a_structure_of_another_kind_than_the_input():
    with rtf.SubGraph("swap") as swap:
        pair = swap.input(Pair(tf.int32, tf.float32))
        swap.output({"first": pair.right, "second": (pair.left,)})
    assert as_numpy(swap(Pair(1, 2.5))) == {"first": 2.5, "second": (1,)}


def test_several_outputs_are_a_tuple():
    with rtf.SubGraph("divide") as divide:
        a, b = divide.input(tf.int32), divide.input(tf.int32)
        divide.output(a // b, a % b)
    assert as_numpy(divide(17, 5)) == (3, 2)


def test_twenty_inputs_keep_their_order():
    with rtf.SubGraph("many") as many:
        inputs = [many.input(tf.int32) for _ in range(20)]
        many.output(*reversed(inputs))
    assert as_numpy(many(*range(20))) == tuple(reversed(range(20)))


def test_a_recursive_call_may_swap_its_arguments():
    with rtf.SubGraph("gcd") as gcd:
        a, b = gcd.input(tf.int32), gcd.input(tf.int32)
        gcd.output(tf.cond(tf.equal(b, 0), lambda: a, lambda: gcd(b, a % b)))
    assert int(gcd(252, 105)) == 21


@pytest.mark.parametrize("dtype", VALUES, ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_pass_through_calls(dtype):
    found = define_hand_down(dtype)(3, tf.constant(VALUES[dtype], dtype))
    assert found.dtype == dtype
    assert found.numpy() == VALUES[dtype]


@pytest.mark.parametrize("dtype", VALUES, ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_are_rows_of_a_map(dtype):
    rows = tf.constant([VALUES[dtype]] * 2, dtype)
    found = define_hand_down(dtype).map([0, 2], rows)
    assert found.dtype == dtype
    assert found.numpy().tolist() == rows.numpy().tolist()


@pytest.mark.parametrize("shape", [[3], [2, None], [None, None], None], ids=str)
def test_a_tensor_keeps_its_shape_where_dimensions_are_unknown(shape):
    value = np.arange(6).reshape([2, 3]) if shape != [3] else np.arange(3)
    found = define_hand_down(tf.int64, shape)(2, value)
    np.testing.assert_array_equal(found, value)


def test_a_tensor_spec_declares_an_input():
    found = define_hand_down(tf.TensorSpec([None, 2], tf.float32))(1, tf.ones([3, 2]))
    assert found.shape == [3, 2]


@pytest.mark.falls_back("an unknown shape")
def test_a_result_may_grow_with_the_recursion():
    assert define_triangle()(4).numpy().tolist() == [4, 3, 2, 1]


@pytest.mark.falls_back("an unknown shape")
def test_an_argument_may_grow_with_the_recursion():
    with rtf.SubGraph("count_up") as count_up:
        seen = count_up.input(tf.int32, [None])
        n = tf.size(seen)
        count_up.output(
            tf.cond(n > 3, lambda: seen, lambda: count_up(tf.concat([seen, [n]], 0)))
        )
    assert count_up([9]).numpy().tolist() == [9, 1, 2, 3]


def test_a_tensor_without_elements_passes():
    assert define_hand_down(tf.float32, [None])(2, tf.zeros([0])).shape == [0]


def test_static_shapes_of_results_are_known_while_tracing():
    hand_down = define_hand_down(tf.float32, [None, 3])

    @tf.function
    def shapes(value):
        one = hand_down(1, value).shape
        rows = hand_down.map([1, 2], tf.stack([value, value])).shape
        return tf.constant(str((one.as_list(), rows.as_list())))

    assert shapes(tf.ones([2, 3])).numpy() == b"([None, 3], [2, None, 3])"


# --- What an argument may be


@pytest.mark.parametrize("n", [10, np.int32(10), np.array(10), tf.constant(10)])
def test_an_argument_may_be_anything_that_converts_to_the_input(n):
    assert int(define_fib()(n)) == 55


def test_python_numbers_are_arguments_inside_bodies():
    with rtf.SubGraph("power") as power:
        base, n = power.input(tf.float64), power.input(tf.int64)
        power.output(tf.cond(n < 1, lambda: 1.0 + 0 * base, lambda: power(2, n - 1)))
    assert float(power(3, 2)) == 1.0


def test_a_list_of_numbers_is_one_tensor():
    assert define_hand_down(tf.float32, [2])(1, [1, 2.5]).numpy().tolist() == [1, 2.5]


def test_a_variable_is_an_argument():
    n = tf.Variable(10)
    assert int(define_fib()(n)) == 55


# --- What it may not be


@pytest.mark.parametrize("args", [(), (1,), (1, [1.0, 2.0, 3.0], 2)], ids=len)
def test_a_wrong_number_of_arguments_is_refused(args):
    message = message_of(lambda: define_pair()(*args))
    takes = "SubGraph 'pair' takes 2 input(s) (int32[], float32[3])"
    assert f"{takes}, but was called with {len(args)}." in message


def test_a_wrong_dtype_is_refused():
    message = message_of(lambda: define_fib()(tf.constant(1.0)))
    assert "Input 0 of SubGraph 'fib' is int32[], but the argument is not" in message
    assert ". Cast it before the call." in message


def test_a_python_float_is_no_integer():
    assert "Input 0 of SubGraph 'fib'" in message_of(lambda: define_fib()(1.5))


def test_a_wrong_shape_is_refused():
    message = message_of(lambda: define_pair()(1, [1.0, 2.0]))
    expected = (
        "Input 1 of SubGraph 'pair' is float32[3], but the argument is float32[2]."
    )
    assert expected in message


def test_a_wrong_structure_is_refused():
    with rtf.SubGraph("f") as f:
        f.output(f.input({"n": tf.int32})["n"])
    message = message_of(lambda: f({"m": 1}))
    assert "Input 0 of SubGraph 'f' has the structure {n: int32[]}" in message


def test_wrong_arguments_of_a_call_in_a_body_are_refused():
    def define():
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.output(tf.cond(n < 1, lambda: 0, lambda: f(n - 1, n)))

    assert "'f' takes 1 input(s) (int32[]), but was called with 2." in message_of(
        define
    )


def test_wrong_arguments_in_a_function_are_refused():
    fib = define_fib()

    @tf.function
    def run():
        return fib(1, 2)

    message = message_of(run)
    assert "SubGraph 'fib' takes 1 input(s) (int32[]), but was called with 2" in message


def define_sizes():
    """Returns a SubGraph whose body is built on its input having three elements."""
    with rtf.SubGraph("three") as three:
        three.output(tf.shape(three.input(tf.float32, [3])))
    return three


def test_a_wrong_shape_that_only_shows_when_it_runs_is_an_error():
    three = define_sizes()
    run = tf.function(lambda x: three(x), input_signature=[tf.TensorSpec([None])])
    assert run(tf.ones([3])).numpy().tolist() == [3]
    message = message_of(lambda: run(tf.ones([4])), tf.errors.InvalidArgumentError)
    assert "4] is not compatible with expected shape" in message


def test_a_wrong_shape_of_a_row_that_only_shows_when_it_runs_is_an_error():
    three = define_sizes()
    run = tf.function(lambda x: three.map(x), input_signature=[tf.TensorSpec(None)])
    assert run(tf.ones([2, 3])).numpy().tolist() == [[3], [3]]
    message = message_of(lambda: run(tf.ones([2, 4])), tf.errors.InvalidArgumentError)
    assert "[2,4] is not compatible with expected shape [?,3]" in message


@pytest.mark.parametrize("is_defined", [True, False])
def test_a_wrong_shape_in_a_body_that_only_shows_when_it_runs_is_an_error(is_defined):
    three = define_sizes() if is_defined else rtf.SubGraph("three", **RETURNS_SHAPE)
    with rtf.SubGraph("f") as f:
        f.output(three(f.input(tf.float32, [None])))
    if not is_defined:
        with three:
            three.output(tf.shape(three.input(tf.float32, [3])))
    assert f(tf.ones([3])).numpy().tolist() == [3]
    message = failure_of(lambda: f(tf.ones([4])))
    assert "4] is not compatible with expected shape" in message


RETURNS_SHAPE = {"output_signature": tf.TensorSpec([1], tf.int32)}


@pytest.mark.parametrize("args", [(), (1, 2), (1.5,), ([1, 2],)], ids=str)
def test_a_call_of_a_later_definition_is_checked_when_it_is_run(args):
    later = rtf.SubGraph("later", output_signature=tf.int32)
    with rtf.SubGraph("f") as f:
        f.input(tf.int32)
        f.output(later(*args))
    with later:
        later.output(later.input(tf.int32))
    message = message_of(lambda: f(1))
    assert (
        "SubGraph 'later' takes (int32[]), but a call before its definition" in message
    )
    assert "test_arguments.py:" in message


def test_an_input_declared_after_a_call_is_found_out():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        below = tf.cond(n < 1, lambda: 0, lambda: f(n - 1))
        f.output(below + f.input(tf.int32))
    assert "takes (int32[], int32[]), but" in message_of(lambda: f(1, 2))
