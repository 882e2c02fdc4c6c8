"""A body uses tensors, variables and resources of the outside without naming them."""

import time

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor


def define_repeat(step, dtype=tf.float32, shape=()):
    """Returns a SubGraph that applies `step` n times, each in a call of its own."""
    with rtf.SubGraph("repeat") as repeat:
        n = repeat.input(tf.int32)
        x = repeat.input(dtype, shape)
        repeat.output(tf.cond(n < 1, lambda: x, lambda: step(repeat(n - 1, x), n)))
    return repeat


def make_table():
    keys, values = tf.constant(["a", "b"]), tf.constant([10, 20], tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
    return tf.lookup.StaticHashTable(initializer, default_value=-1)


def text_of(path):
    return path.read_text().split()


# --- Tensors


@pytest.mark.parametrize("dtype", [tf.int32, tf.float32, tf.complex64, tf.float64])
@pytest.mark.parametrize("shape", [[], [3], [100, 100]], ids=str)
def test_eager_tensors_of_every_size_are_captured(dtype, shape):
    outer = tf.cast(tf.fill(shape, 2), dtype)
    repeat = define_repeat(lambda x, n: x + outer, dtype, shape)
    np.testing.assert_array_equal(repeat(3, tf.zeros(shape, dtype)), 3 * outer)


def test_eager_strings_and_bools_are_captured():
    text, flag = tf.constant("ab"), tf.constant(True)
    more = lambda x, n: tf.cond(flag, lambda: x + text, lambda: x)  # noqa: E731
    assert define_repeat(more, tf.string)(2, "").numpy() == b"abab"


def test_arguments_of_the_function_around_are_captured():
    @tf.function
    def run(n, weights):
        return define_repeat(lambda x, _: x * weights, shape=[2])(n, tf.ones([2]))

    assert run(3, tf.constant([2.0, 3.0])).numpy().tolist() == [8, 27]


def test_results_of_the_function_around_are_captured():
    @tf.function
    def run(n, weights):
        doubled = 2 * weights
        return define_repeat(lambda x, _: x + doubled)(n, 0.0) + doubled

    assert float(run(3, 1.5)) == 12


def test_numpy_arrays_are_constants():
    array = np.array([1, 2], np.float32)
    found = define_repeat(lambda x, n: x + array, shape=[2])(3, [0, 0])
    assert found.numpy().tolist() == [3, 6]


def test_a_tensor_is_captured_from_within_nested_branches():
    outer = tf.constant(3.0)

    def step(x, n):
        add = lambda: tf.cond(n > 1, lambda: x + outer, lambda: x - outer)  # noqa: E731
        return tf.switch_case(n % 2, [lambda: x * outer, add])

    assert float(define_repeat(step)(3, 5.0)) == (5 - 3) * 3 + 3


def test_a_tensor_is_captured_from_within_a_loop():
    outer = tf.constant(2.0)

    def step(x, n):
        turn = lambda k, y: (k + 1, y * outer)  # noqa: E731
        return tf.while_loop(lambda k, _: k < n, turn, (0, x))[1]

    assert float(define_repeat(step)(3, 1.0)) == 2 ** (1 + 2 + 3)


def test_a_tensor_is_captured_from_within_a_function_in_the_body():
    outer = tf.constant(2.0)
    times = tf.function(lambda x: x * outer)
    assert float(define_repeat(lambda x, _: times(x))(3, 1.0)) == 8


def test_a_condition_may_be_an_outer_tensor():
    flag = tf.constant(False)
    step = lambda x, n: tf.cond(flag, lambda: x + 1, lambda: x + 2)  # noqa: E731
    assert float(define_repeat(step)(3, 0.0)) == 6


def test_an_output_may_be_an_outer_tensor():
    outer = tf.constant([1, 2])
    with rtf.SubGraph("f") as f:
        f.output(outer, f.input(tf.int32))
    assert f(3)[0].numpy().tolist() == [1, 2]


def test_an_argument_of_an_inner_call_may_be_an_outer_tensor():
    start = tf.constant(7)
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: x, lambda: f(n - 1, start)))
    assert int(f(2, 0)) == 7


def test_a_callee_captures_what_its_caller_does_not():
    outer = tf.constant(5)
    with rtf.SubGraph("callee") as callee:
        callee.output(callee.input(tf.int32) + outer)
    with rtf.SubGraph("caller") as caller:
        caller.output(callee(caller.input(tf.int32)))
    assert int(caller(1)) == 6


def test_the_tensors_of_each_trace_are_its_own():
    @tf.function
    def run(rows):
        last = tf.shape(rows)[0] - 1
        with rtf.SubGraph("total") as total:
            i = total.input(tf.int32)
            more = lambda: rows[i] + total(i + 1)  # noqa: E731
            total.output(tf.cond(tf.equal(i, last), lambda: rows[i], more))
        return total(0)

    assert float(run(tf.constant([1.0, 2.0]))) == 3
    assert float(run(tf.constant([1.0, 2.0, 3.0]))) == 6
    assert float(run(tf.constant([10.0, 20.0]))) == 30


def test_two_functions_capture_through_one_subgraph():
    outer = tf.constant(2.0)
    repeat = define_repeat(lambda x, _: x * outer)
    once, twice = (
        tf.function(lambda: repeat(1, 1.0)),
        tf.function(lambda: repeat(2, 1.0)),
    )
    assert [float(once()), float(twice()), float(repeat(3, 1.0))] == [2, 4, 8]


def test_a_map_gives_every_row_the_same_captures():
    outer = tf.constant([2.0, 3.0])
    repeat = define_repeat(lambda x, _: x * outer, shape=[2])
    found = repeat.map([0, 1, 2], tf.ones([3, 2]))
    assert found.numpy().tolist() == [[1, 1], [2, 3], [4, 9]]


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


# --- Other resources


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


# --- Effects


def test_prints_of_every_invocation_happen(tmp_path):
    path = tmp_path / "printed"

    def step(x, n):
        tf.print(n, output_stream=f"file://{path}")
        return x

    define_repeat(step)(4, 0.0)
    assert sorted(text_of(path)) == ["1", "2", "3", "4"]


@pytest.mark.executor("dataflow")
def test_prints_of_one_program_keep_their_order(tmp_path):
    path = tmp_path / "printed"
    with rtf.SubGraph("walk", output_signature=tf.int32) as walk:
        n = walk.input(tf.int32)

        def children():
            walk(2 * n)
            walk(2 * n + 1)
            return n

        tf.print(n, output_stream=f"file://{path}")
        walk.output(tf.cond(n > 3, lambda: n, children))
    walk(1)
    assert text_of(path) == ["1", "2", "4", "5", "3", "6", "7"]


def test_prints_reach_standard_error(capfd):
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        tf.print("node", n)
        f.output(n)
    f(42)
    assert "node 42" in capfd.readouterr().err


def define_checked(limit):
    with rtf.SubGraph("checked") as checked:
        n = checked.input(tf.int32)
        tf.debugging.assert_less(n, limit, message="too large")
        checked.output(n)
    return checked


def test_an_assertion_in_a_body_runs():
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        define_checked(limit=3)(3)


def test_an_assertion_that_holds_does_not_disturb():
    assert int(define_checked(limit=3)(2)) == 2


def test_an_assertion_runs_where_nobody_uses_the_result_of_its_call():
    checked = define_checked(limit=3)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        checked(n)
        f.output(n)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        f(3)


def test_an_assertion_runs_where_nobody_uses_the_result_of_the_root_call():
    checked = define_checked(limit=3)

    @tf.function
    def run(n):
        checked(n)
        return n

    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        run(3)


def test_an_assertion_in_a_branch_runs_if_it_is_taken():
    def step(x, n):
        def check():
            tf.debugging.assert_greater(x, 0.0, message="negative")
            return x

        return tf.cond(n > 2, check, lambda: x - 1)

    repeat = define_repeat(step)
    assert float(repeat(2, 1.0)) == -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        repeat(3, 1.0)


# --- Programs that change what they use


def define_count(counter):
    """Returns a SubGraph that counts the invocations of a binary tree."""
    with rtf.SubGraph("count") as count:
        depth = count.input(tf.int32)
        counter.assign_add(1)
        both = lambda: count(depth - 1) + count(depth - 1)  # noqa: E731
        count.output(tf.cond(depth < 1, lambda: 1, both))
    return count


@pytest.mark.falls_back("an effect")
def test_a_variable_counts_every_invocation():
    counter = tf.Variable(0)
    assert int(define_count(counter)(6)) == 64
    assert int(counter) == 127


@pytest.mark.falls_back("an effect")
def test_a_variable_counts_the_invocations_of_a_map():
    counter = tf.Variable(0)
    define_count(counter).map([0, 1, 2])
    assert int(counter) == 1 + 3 + 7


@pytest.mark.falls_back("an effect")
def test_a_program_that_assigns_writes_in_the_order_of_its_text():
    digits = tf.Variable(0, dtype=tf.int64)
    with rtf.SubGraph("write", output_signature=tf.int64) as write:
        n = write.input(tf.int64)
        digits.assign(10 * digits + n)
        write.output(tf.cond(n < 1, lambda: n, lambda: write(n - 1)))
    write(9)
    assert int(digits) == 9876543210


@pytest.mark.falls_back("an effect")
def test_what_a_call_wrote_is_read_after_it():
    state = tf.Variable(0)
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        tf.cond(n > 0, lambda: f(n - 1), lambda: n)
        state.assign(10 * state + n)
        f.output(state.read_value())
    assert int(f(5)) == 12345


@pytest.mark.falls_back("a Python function")
def test_what_a_call_wrote_late_is_read_after_it():
    state = tf.Variable(0)

    def wait(n):
        time.sleep(0.05)
        return n

    with rtf.SubGraph("slow") as slow:
        n = slow.input(tf.int32)
        late = tf.ensure_shape(tf.numpy_function(wait, [n], tf.int32), [])
        state.assign(late)
        slow.output(n)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        slow(n)
        f.output(state.read_value())
    assert int(f(5)) == 5


@pytest.mark.falls_back("an effect")
def test_what_was_read_before_a_call_is_not_what_it_wrote():
    state = tf.Variable(1)
    with rtf.SubGraph("set_to") as set_to:
        n = set_to.input(tf.int32)
        state.assign(n)
        set_to.output(n)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        before = state.read_value()
        set_to(n)
        between = state.read_value()
        set_to(n + 1)
        f.output(before, between, state.read_value())
    assert [int(x) for x in f(7)] == [1, 7, 8]


@pytest.mark.falls_back("an effect")
def test_a_write_in_a_branch_is_read_after_the_conditional():
    state = tf.Variable(0)
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)

        def more():
            f(n - 1)
            state.assign_add(n)
            return state.read_value()

        seen = tf.cond(n < 1, lambda: 0, more)
        f.output(seen + 1000 * (state.read_value() - seen))
    assert int(f(4)) == 10


@pytest.mark.falls_back("an effect")
def test_a_write_of_the_root_call_is_read_after_it_in_a_function():
    counter = tf.Variable(0)
    count = define_count(counter)

    @tf.function
    def run():
        count(2)
        first = counter.read_value()
        count(1)
        return first, counter.read_value()

    assert [int(x) for x in run()] == [7, 10]


@pytest.mark.falls_back("an effect")
def test_a_program_may_insert_into_a_table():
    table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.int32, -1)
    with rtf.SubGraph("fill", output_signature=tf.int32) as fill:
        n = fill.input(tf.int32)
        table.insert(n, n * n)
        fill.output(tf.cond(n < 1, lambda: n, lambda: fill(n - 1)))
    fill(3)
    assert table.lookup(tf.range(5)).numpy().tolist() == [0, 1, 4, 9, -1]


@pytest.mark.falls_back("an unknown shape")
def test_random_numbers_of_invocations_differ():
    with rtf.SubGraph("draw", output_signature=tf.TensorSpec([None])) as draw:
        n = draw.input(tf.int32)
        number = tf.random.uniform([1])
        more = lambda: tf.concat([number, draw(n - 1)], 0)  # noqa: E731
        draw.output(tf.cond(n < 1, lambda: number, more))
    assert len(set(draw(9).numpy())) == 10


@pytest.mark.falls_back("an effect")
def test_calls_in_a_loop_have_their_effects_in_order():
    digits = tf.Variable(0)
    with rtf.SubGraph("write") as write:
        n = write.input(tf.int32)
        digits.assign(10 * digits + n)
        write.output(n)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        turn = lambda k: (k + write(k) * 0 + 1,)  # noqa: E731
        tf.while_loop(lambda k: k < n, turn, (0,))
        f.output(digits.read_value())
    assert int(f(6)) == 12345


@pytest.mark.falls_back("an effect")
def test_effects_of_a_function_in_a_body_keep_their_order():
    digits = tf.Variable(0)

    @tf.function
    def append(n):
        digits.assign(10 * digits + n)

    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        append(n)
        tf.cond(n < 1, lambda: n, lambda: f(n - 1))
        append(n)
        f.output(digits.read_value())
    assert int(f(3)) == 32100123


@pytest.mark.falls_back("a text to print")
def test_the_text_orders_prints_and_calls_that_write(tmp_path):
    path, state = tmp_path / "printed", tf.Variable(0)
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        tf.print("down", n, output_stream=f"file://{path}")
        state.assign_add(1)
        tf.cond(n < 1, lambda: n, lambda: f(n - 1))
        tf.print("up", state, output_stream=f"file://{path}")
        f.output(n)
    f(1)
    assert " ".join(text_of(path)) == "down 1 down 0 up 2 up 2"
