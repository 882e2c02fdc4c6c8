"""Maps: a root call that invokes once for each row."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.subgraphs import define_fib, define_hand_down, define_pair
from tests.helpers.values import Pair, as_numpy

pytestmark = pytest.mark.every_executor

# --- What a map does


def test_map_invokes_once_for_each_row():
    found = define_fib().map([0, 1, 5, 10])
    assert found.numpy().tolist() == [0, 1, 5, 55]


def test_map_takes_one_row_of_each_argument():
    with rtf.SubGraph("gcd") as gcd:
        a, b = gcd.input(tf.int32), gcd.input(tf.int32)
        gcd.output(tf.cond(tf.equal(b, 0), lambda: a, lambda: gcd(b, a % b)))
    assert gcd.map([12, 35, 9], [18, 21, 6]).numpy().tolist() == [6, 7, 3]


def test_map_stacks_every_tensor_of_a_structure():
    hand_down = define_hand_down(Pair(tf.int32, tf.float32))
    rows = Pair(tf.constant([1, 2]), tf.constant([1.5, 2.5]))
    found = as_numpy(hand_down.map([0, 3], rows))
    assert found.left.tolist() == [1, 2]
    assert found.right.tolist() == [1.5, 2.5]


def test_map_stacks_rows_of_any_shape():
    value = np.random.default_rng(0).normal(size=[3, 2, 4]).astype("f")
    found = define_hand_down(tf.float32, [2, None]).map([0, 1, 2], value)
    np.testing.assert_array_equal(found, value)


def test_map_over_no_rows_gives_no_rows():
    found = define_hand_down(tf.float32, [3]).map(
        tf.zeros([0], tf.int32), tf.zeros([0, 3])
    )
    assert found.shape == [0, 3]


def test_map_runs_in_a_function_where_the_number_of_rows_is_unknown():
    fib = define_fib()
    rows = tf.function(
        lambda n: fib.map(n), input_signature=[tf.TensorSpec([None], tf.int32)]
    )
    assert rows(tf.range(4)).numpy().tolist() == [0, 1, 1, 2]
    assert rows(tf.range(0)).numpy().tolist() == []


def test_map_over_a_thousand_rows_keeps_their_order():
    found = define_hand_down(tf.int32).map(tf.range(1000) % 7, tf.range(1000))
    assert found.numpy().tolist() == list(range(1000))


def test_rows_without_elements_are_stacked():
    found = define_hand_down(tf.float32, [None]).map([1, 2], tf.zeros([2, 0]))
    assert found.shape == [2, 0]


# --- What is refused


@pytest.mark.traces_only
def test_a_map_without_inputs_is_refused():
    with rtf.SubGraph("f") as f:
        f.output(1)
    assert "'f' has no rows, because 'f' has no input" in message_of(f.map)


@pytest.mark.traces_only
def test_a_map_of_an_argument_without_rows_is_refused():
    message = message_of(lambda: define_fib().map(3))
    assert (
        "Input 0 of SubGraph 'fib' is int32[?], but the argument is int32[]." in message
    )


@pytest.mark.parametrize("counts", [(2, 3), (0, 1), (1, 0)], ids=str)
def test_a_map_of_different_numbers_of_rows_is_refused(counts):
    def call():
        return define_pair().map(
            tf.zeros(counts[0], tf.int32), tf.zeros([counts[1], 3])
        )

    message = message_of(call, tf.errors.InvalidArgumentError)
    assert ".map takes arguments with the same first dimension" in message
    assert f"[{counts[0]}] and [{counts[1]},3]" in message


@pytest.mark.falls_back("an unknown shape")
def test_rows_of_different_shapes_are_not_stacked():
    with rtf.SubGraph("count") as count:
        count.output(tf.range(count.input(tf.int32)))
    message = message_of(lambda: count.map([2, 3]), tf.errors.InvalidArgumentError)
    assert (
        "SubGraph 'count': output 0 has the shape [2] in the first row of the map and "
        "[3] in" in message
    )


@pytest.mark.falls_back("an unknown shape")
def test_a_map_over_no_rows_needs_a_static_shape():
    with rtf.SubGraph("count") as count:
        count.output(tf.range(count.input(tf.int32)))
    call = lambda: count.map(tf.zeros([0], tf.int32))  # noqa: E731
    message = message_of(call, tf.errors.InvalidArgumentError)
    assert (
        "SubGraph 'count': output 0 of a map over no rows has the shape [?] a row"
        in message
    )
