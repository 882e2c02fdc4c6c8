"""A body reads variables and tables of the outside as they are at the call."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.unrolled import define_repeat

pytestmark = pytest.mark.every_executor


# --- Variables


def test_a_variable_is_read_in_a_body():
    weight = tf.Variable(2.0)
    assert float(define_repeat(lambda x, _: x * weight)(3, 1.0)) == 8


def test_an_update_between_eager_calls_is_seen():
    weight = tf.Variable(2.0)
    repeat = define_repeat(lambda x, _: x * weight)
    before = float(repeat(3, 1.0))
    weight.assign(3.0)
    assert [before, float(repeat(3, 1.0))] == [8, 27]


def test_an_update_between_calls_of_one_function_is_seen():
    weight = tf.Variable(2.0)
    repeat = define_repeat(lambda x, _: x * weight)

    @tf.function
    def run():
        before = repeat(3, 1.0)
        weight.assign(3.0)
        between = repeat(3, 1.0)
        weight.assign(1.0)
        return before, between, repeat(3, 1.0)

    assert [float(x) for x in run()] == [8, 27, 1]


def test_a_variable_is_read_from_within_branches():
    left, right = tf.Variable(2.0), tf.Variable(3.0)
    step = lambda x, n: tf.cond(n > 1, lambda: x * left, lambda: x * right)  # noqa: E731
    assert float(define_repeat(step)(3, 1.0)) == 12


def test_a_variable_is_read_by_a_subgraph_two_levels_down():
    weight = tf.Variable(2.0)
    with rtf.SubGraph("outer") as outer:
        x = outer.input(tf.float32)
        with rtf.SubGraph("inner") as inner:
            n = inner.input(tf.int32)
            inner.output(tf.cond(n < 1, lambda: x, lambda: weight * inner(n - 1)))
        outer.output(inner(3))
    assert float(outer(1.5)) == 12


def test_rows_of_a_variable_are_gathered():
    embedding = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with rtf.SubGraph("total") as total:
        i = total.input(tf.int32)
        row = tf.gather(embedding, i)
        total.output(tf.cond(i < 1, lambda: row, lambda: row + total(i - 1)))
    assert total(2).numpy().tolist() == [9, 12]


def test_a_variable_whose_shape_is_unknown_is_read():
    state = tf.Variable([1.0], shape=[None])
    total = define_repeat(lambda x, _: x + tf.reduce_sum(state))
    before = float(total(2, 0.0))
    state.assign([1.0, 2.0, 3.0])
    assert [before, float(total(2, 0.0))] == [2, 12]


def test_a_variable_handed_through_a_loop_is_read_in_a_body():
    weight = tf.Variable([1.0, 2.0])

    @tf.function
    def run(n):
        repeat = define_repeat(lambda x, _: x + weight, shape=[2])
        turn = lambda k, x: (k + 1, repeat(k, x))  # noqa: E731
        return tf.while_loop(lambda k, _: k < n, turn, (0, tf.zeros([2])))[1]

    assert run(tf.constant(4)).numpy().tolist() == [6, 12]


# --- Tables


def make_table():
    keys, values = tf.constant(["a", "b"]), tf.constant([10, 20], tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
    return tf.lookup.StaticHashTable(initializer, default_value=-1)


def test_a_lookup_table_is_used_in_a_body():
    table = make_table()
    step = lambda x, n: x + table.lookup(tf.constant("b"))  # noqa: E731
    assert int(define_repeat(step, tf.int64)(3, 0)) == 60


def test_a_lookup_table_is_used_from_within_branches():
    table = make_table()

    def step(x, n):
        look_up = lambda key: lambda: x + table.lookup(tf.constant(key))  # noqa: E731
        return tf.switch_case(n % 3, [look_up("a"), look_up("b"), look_up("?")])

    assert int(define_repeat(step, tf.int64)(3, 0)) == 20 - 1 + 10


def test_a_mutable_table_is_read_as_it_is_at_the_call():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    step = lambda x, _: tf.ensure_shape(table.lookup(x), [])  # noqa: E731
    repeat = define_repeat(step, tf.int64)
    table.insert([1, 2, 3], [2, 3, 4])
    before = int(repeat(2, 1))
    table.insert([2], [9])
    assert [before, int(repeat(2, 1))] == [3, 9]
