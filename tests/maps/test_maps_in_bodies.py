"""Maps in bodies: a node with any number of children."""

import functools

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.values import as_numpy

pytestmark = pytest.mark.every_executor

# Node 5 has the child 4, that has 2, 3 and 0, and 2 has 0 and 1.
CHILDREN = [[], [], [0, 1], [], [2, 3, 0], [4]]
WORDS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "f")


def children_of(node):
    rows = tf.ragged.constant(CHILDREN, tf.int32)
    starts = tf.cast(tf.gather(rows.row_splits, [node, node + 1]), tf.int32)
    return rows.flat_values[starts[0] : starts[1]]


def define_sum(words, scale):
    """f(node) = word of node + scale * the sum of f(child)^2, also over no child."""
    with rtf.SubGraph("sum", output_signature=tf.TensorSpec([])) as f:
        node = f.input(tf.int32)
        squares = f.map(children_of(node)) ** 2
        f.output(tf.gather(words, node) + scale * tf.reduce_sum(squares))
    return f


def unrolled_sum(node, words, scale):
    children = [unrolled_sum(child, words, scale) for child in CHILDREN[node]]
    return words[node] + scale * sum((child**2 for child in children), 0.0)


def test_a_map_in_a_body_invokes_once_for_each_row():
    f = define_sum(tf.constant(WORDS), 2.0)
    found = f.map(tf.range(6)).numpy()
    expected = [unrolled_sum(node, WORDS, 2.0) for node in range(6)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_its_gradient_is_that_of_the_unrolled_program():
    words, scale = tf.Variable(WORDS), tf.Variable(1.5)
    with tf.GradientTape(persistent=True) as tape:
        found = define_sum(words, scale)(5)
        expected = unrolled_sum(5, words, scale)
    for variable in (words, scale):
        gradients = [tape.gradient(y, variable) for y in (found, expected)]
        np.testing.assert_allclose(
            *map(as_numpy, map(tf.convert_to_tensor, gradients)), rtol=1e-5
        )


@pytest.fixture
def known(executor):
    """Returns what is known of a number of rows: batching needs to know it."""
    return lambda rows: None if executor == "dataflow" else rows


def test_the_gradient_of_an_argument_has_its_rows(known):
    with rtf.SubGraph("square") as square:
        square.output(square.input(tf.float32, [2]) ** 2)
    for rows in (3, 0):
        with rtf.SubGraph("f") as f:
            x = f.input(tf.float32, [known(rows), 2])
            f.output(tf.reduce_sum(square.map(x), 0))
        x = tf.reshape(tf.range(2.0 * rows), [rows, 2])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(y, np.sum(x.numpy() ** 2, 0))
        np.testing.assert_allclose(tape.gradient(y, x), 2 * x.numpy())


def test_structures_are_stacked_tensor_by_tensor(known):
    with rtf.SubGraph("both") as both:
        n, x = both.input(tf.int32), both.input(tf.float32, [2])
        both.output({"n": n + 1, "sum": tf.reduce_sum(x)})
    with rtf.SubGraph("f") as f:
        rows = known(3)
        f.output(both.map(f.input(tf.int32, [rows]), f.input(tf.float32, [rows, 2])))
    found = f([1, 2, 3], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert found["n"].numpy().tolist() == [2, 3, 4]
    assert found["sum"].numpy().tolist() == [3, 7, 11]


def test_what_a_callee_uses_of_the_body_around_is_shared_by_all_rows(known):
    for rows in ([1.0, 2.0, 4.0], []):
        with rtf.SubGraph("f") as f:
            x = f.input(tf.float32)
            with rtf.SubGraph("times") as times:
                times.output(times.input(tf.float32) * x**2)
            y = f.input(tf.float32, [known(len(rows))])
            f.output(tf.reduce_sum(times.map(y)))
        x, y = tf.constant(3.0), tf.constant(rows, tf.float32)
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            found = f(x, y)
        by_x, by_y = tape.gradient(found, [x, y])
        assert found.numpy() == 9 * sum(rows)
        assert by_x.numpy() == 6 * sum(rows)
        assert by_y.numpy().tolist() == [9.0] * len(rows)


def test_a_map_in_a_branch_is_made_where_the_branch_is_taken():
    with rtf.SubGraph("leaves") as leaves:
        node = leaves.input(tf.int32)
        children = children_of(node)
        leaves.output(
            tf.cond(
                tf.equal(tf.size(children), 0),
                lambda: 1,
                lambda: tf.reduce_sum(leaves.map(children)),
            )
        )
    assert leaves.map(tf.range(6)).numpy().tolist() == [1, 1, 2, 1, 4, 4]


def test_a_map_in_a_loop_keeps_the_rows_of_each_turn_apart():
    with rtf.SubGraph("cube") as cube:
        cube.output(cube.input(tf.float32) ** 3)

    with rtf.SubGraph("f") as f:
        start = f.input(tf.float32, [3])

        def turn(i, x):
            return i + 1, 0.5 * cube.map(x)

        _, x = tf.while_loop(lambda i, _: i < 3, turn, (0, start))
        f.output(tf.reduce_sum(x))

    x = tf.constant([1.0, 1.1, 1.2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        found, expected = f(x), x
        for _ in range(3):
            expected = 0.5 * expected**3
        expected = tf.reduce_sum(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(
        tape.gradient(found, x), tape.gradient(expected, x), rtol=1e-5
    )


def test_rows_push_to_the_table_of_the_root_call(known):
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([], tf.int32)) as f:
        node = f.input(tf.int32)
        height = 1 + tf.maximum(-1, tf.reduce_max(f.map(children_of(node))))
        f.push("height", height, index=node, size=6)
        f.output(height)
    with rtf.SubGraph("root") as root:
        root.output(f.map(root.input(tf.int32, [known(1)])))
    _, pushed = root([3], with_pushed=True)
    assert pushed["height"].numpy().tolist() == [0, 0, 0, 0, 0, 0]


@pytest.mark.traces_only
def test_a_map_before_the_definition_is_checked_when_the_program_is_closed():
    later = rtf.SubGraph("later", output_signature=tf.TensorSpec([]))
    with rtf.SubGraph("f") as f:
        f.output(later.map(f.input(tf.float32, [2, 3])))
    with later:
        later.output(tf.reduce_sum(later.input(tf.float32, [4])))
    message = message_of(lambda: f(tf.zeros([2, 3])))
    assert "'later' takes (float32[?, 4]), but a call before its" in message


def test_an_error_in_a_row_has_its_path(known):
    with rtf.SubGraph("fine") as fine:
        x = fine.input(tf.float32)
        fine.output(tf.debugging.check_numerics(x, "is not finite"))
    with rtf.SubGraph("f") as f:
        f.output(fine.map(f.input(tf.float32, [known(3)])))
    call = functools.partial(f, [1.0, 2.0, np.nan])
    message = message_of(call, tf.errors.InvalidArgumentError)
    assert "'fine' failed at f → call#0" in message
    assert "(fine)" in message
    assert "is not finite" in message


@pytest.mark.falls_back("an unknown shape")
def test_rows_of_different_shapes_are_not_stacked():
    with rtf.SubGraph("count") as count:
        count.output(tf.range(count.input(tf.int32)))
    with rtf.SubGraph("f") as f:
        f.output(tf.size(count.map(f.input(tf.int32, [2]))))
    call = functools.partial(f, [2, 3])
    message = message_of(call, tf.errors.InvalidArgumentError)
    assert "SubGraph 'count': output 0 has the shape [2] in the first row" in message


@pytest.mark.traces_only
def test_with_pushed_is_for_root_calls():
    fine = define_sum(tf.constant(WORDS), 1.0)

    def define():
        with rtf.SubGraph("f") as f:
            f.output(fine.map(f.input(tf.int32, [3]), with_pushed=True))

    assert "only a root call gathers what" in message_of(define)


@pytest.mark.parametrize("num_rows", [2, 200])
def test_a_wide_map_runs_all_its_rows(num_rows, known):
    with rtf.SubGraph("down") as down:
        n = down.input(tf.int32)
        down.output(tf.cond(n < 1, lambda: 0, lambda: 1 + down(n - 1)))
    with rtf.SubGraph("f") as f:
        f.output(down.map(f.input(tf.int32, [known(num_rows)])))
    rows = np.arange(num_rows) % 17
    assert f(rows).numpy().tolist() == rows.tolist()


def test_the_calls_of_a_map_in_a_branch_may_all_get_what_all_activations_share():
    scale = tf.Variable(0.5)

    def copies(value, rows):
        return tf.tile(value[None], [tf.shape(rows)[0]])

    with rtf.SubGraph("f", output_signature=tf.TensorSpec([])) as f:
        node, x = f.input(tf.int32), f.input(tf.float32)
        rows = children_of(node)
        first = tf.reduce_sum(f.map(rows, copies(x, rows)))

        def second():
            rows = children_of(node)
            return tf.reduce_sum(f.map(rows, copies(tf.sin(scale), rows)))

        f.output(tf.cond(tf.size(rows) > 0, second, lambda: x) + first * scale)

    def unrolled(node, x):
        children = CHILDREN[node]
        first = sum(unrolled(child, x) for child in children)
        second = sum(unrolled(child, tf.sin(scale)) for child in children)
        return (second if children else x) + first * scale

    with tf.GradientTape(persistent=True) as tape:
        found, expected = f(5, 2.0), unrolled(5, tf.constant(2.0))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    of_found, of_expected = (tape.gradient(y, scale) for y in (found, expected))
    np.testing.assert_allclose(of_found, of_expected, rtol=1e-5)
