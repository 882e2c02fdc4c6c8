"""Programs that change what they use: in the order of the text, once an invocation."""

import time

import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor


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
    assert " ".join(path.read_text().split()) == "down 1 down 0 up 2 up 2"
