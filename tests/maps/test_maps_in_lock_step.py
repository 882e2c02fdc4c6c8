"""Maps in bodies in lock step: a call for each row, however many there are."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.values import as_numpy

# Children, and -1 for none: node 5 has 4, that has 2, 3 and 0, and 2 has 0 and 1.
CHILDREN = [[-1, -1, -1]] * 2 + [[0, 1, -1], [-1, -1, -1], [2, 3, 0], [4, -1, -1]]
WORDS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "f")


def sums(executor):
    """Returns f of all nodes, f(node) = word + m * the sum of f(child)^2; gradients."""
    words, m = tf.Variable(WORDS), tf.Variable(1.5)
    with rtf.SubGraph("sum", executor=executor) as f:
        node = f.input(tf.int32)

        def inner():
            children = tf.gather(CHILDREN, node)
            squares = tf.where(children < 0, 0.0, f.map(children)) ** 2
            return tf.gather(words, node) + m * tf.reduce_sum(squares)

        f.output(tf.cond(node < 0, lambda: 0.0, inner))
    with tf.GradientTape() as tape:
        found = f.map(tf.range(6))
        loss = tf.reduce_sum(found)
    by_words, by_m = tape.gradient(loss, [words, m])
    return as_numpy([found, tf.convert_to_tensor(by_words), by_m])


def test_a_map_is_a_call_for_each_row():
    expected = []
    for node, word in enumerate(WORDS):
        children = [expected[child] ** 2 for child in CHILDREN[node] if child >= 0]
        expected.append(word + 1.5 * sum(children))
    found, by_words, by_m = sums("batched")
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    _, words_too, m_too = sums("dataflow")
    np.testing.assert_allclose(by_words, words_too, rtol=1e-5)
    np.testing.assert_allclose(by_m, m_too, rtol=1e-5)


def test_rows_wait_for_one_launch():
    with rtf.SubGraph("square", executor="batched") as square:
        square.output(square.input(tf.float32) ** 2)
    with rtf.SubGraph("f", executor="batched") as f:
        f.output(tf.reduce_sum(square.map(f.input(tf.float32, [5]))))
    explanation = rtf.explain(f)
    x = np.arange(15.0, dtype="f").reshape(3, 5)
    np.testing.assert_allclose(f.map(x), np.sum(x**2, 1))
    run = explanation.forward
    assert sorted(zip(run.launches, run.rows, strict=True)) == [(1, 3), (1, 3), (1, 15)]


def test_a_map_over_no_rows_gives_no_rows():
    with rtf.SubGraph("square", executor="batched") as square:
        square.output(square.input(tf.float32, [2]) ** 2)
    with rtf.SubGraph("f", executor="batched") as f:
        x = f.input(tf.float32)
        rows = square.map(tf.zeros([0, 2]))
        f.output(x + tf.reduce_sum(rows), tf.shape(rows))
    found, shape = f(3.0)
    assert found.numpy() == 3.0
    assert shape.numpy().tolist() == [0, 2]


def test_what_the_callee_uses_of_the_body_around_is_shared():
    with rtf.SubGraph("f", executor="batched") as f:
        x, y = f.input(tf.float32), f.input(tf.float32, [3])
        with rtf.SubGraph("times", executor="batched") as times:
            times.output(times.input(tf.float32) * x**2)
        f.output(tf.reduce_sum(times.map(y)))
    x, y = tf.constant(3.0), tf.constant([1.0, 2.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        found = f(x, y)
    by_x, by_y = tape.gradient(found, [x, y])
    assert (found.numpy(), by_x.numpy(), by_y.numpy().tolist()) == (63, 42, [9] * 3)


def test_an_error_in_a_row_has_its_path():
    with rtf.SubGraph("look", executor="batched") as look:
        look.output(tf.gather(WORDS, look.input(tf.int32)))
    with rtf.SubGraph("f", executor="batched") as f:
        f.output(look.map(f.input(tf.int32, [3])))
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        f([1, 2, 9])
    assert "SubGraph 'look' failed at f → call#0[2] (look) in" in str(error.value)


def test_a_map_may_be_over_a_thousand_rows():
    with rtf.SubGraph("square", executor="batched") as square:
        square.output(square.input(tf.float32) ** 2)
    with rtf.SubGraph("f", executor="batched") as f:
        f.output(square.map(f.input(tf.float32, [1000])))
    x = tf.reshape(tf.range(2000.0), [2, 1000])
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = f.map(x)
    np.testing.assert_allclose(found, x**2, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(found, x), 2 * x)


def test_a_map_over_what_all_activations_share():
    rows, scale = tf.Variable([1.0, 2.0, 4.0]), tf.Variable(3.0)
    with rtf.SubGraph("f", executor="batched") as f:
        x = f.input(tf.float32)
        with rtf.SubGraph("times", executor="batched") as times:
            times.output(times.input(tf.float32) * x * scale)
        f.output(tf.reduce_sum(times.map(rows)))
    with tf.GradientTape() as tape:
        found = f.map([2.0, 5.0])
    assert found.numpy().tolist() == [42.0, 105.0]
    by_rows, by_scale = tape.gradient(found, [rows, scale])
    assert by_rows.numpy().tolist() == [21.0] * 3
    assert by_scale.numpy() == 49.0


def both(define, *arguments):
    """Compares the executors: values and gradients of variables and arguments.

    Args:
        define: Returns a SubGraph for an executor, and variables.
        *arguments: What it is mapped over.
    """
    found = []
    for executor in ("batched", "dataflow"):
        f, variables = define(executor)
        arguments = [tf.convert_to_tensor(a) for a in arguments]
        with tf.GradientTape() as tape:
            tape.watch([a for a in arguments if a.dtype.is_floating])
            y = f.map(*arguments)
            loss = tf.reduce_sum(tf.sin(y))
        of = [*variables, *(a for a in arguments if a.dtype.is_floating)]
        gradients = tape.gradient(loss, of, unconnected_gradients="zero")
        found.append(as_numpy([y, *map(tf.convert_to_tensor, gradients)]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    return found[0]


def test_what_is_mapped_is_computed_of_each_activation():
    def define(executor):
        m = tf.Variable([[0.5, -1.0], [2.0, 1.0]])
        with rtf.SubGraph("cell", executor=executor) as cell:
            row, number = cell.input(tf.float32, [2]), cell.input(tf.int32)
            made = tf.linalg.matvec(m, row) * tf.cast(number, tf.float32)
            cell.output(tf.tanh(made))
        with rtf.SubGraph("f", executor=executor) as f:
            n, x = f.input(tf.int32), f.input(tf.float32, [2])
            numbers = tf.range(n)
            rows = x * tf.cast(numbers, tf.float32)[:, tf.newaxis]
            y = cell.map(rows, numbers)
            f.output(tf.reduce_sum(y * rows, 0))
        return f, [m]

    both(define, [0, 3, 1], [[1.0, 2.0], [0.5, -1.0], [3.0, 4.0]])


def test_rows_are_used_beside_items_and_for_each_item():
    def define(executor):
        w = tf.Variable([0.3, -0.8])
        with rtf.SubGraph(
            "f", executor=executor, output_signature=tf.TensorSpec([2])
        ) as f:
            n, x = f.input(tf.int32), f.input(tf.float32, [2])
            numbers = tf.range(n)
            below = f.map(numbers, tf.tile(x[tf.newaxis], [tf.size(numbers), 1]))
            f.output(tf.sin(w * x + tf.reduce_sum(below[:, :1] * x, 0)))
        return f, [w]

    both(define, [2, 0, 3], [[1.0, 2.0], [0.5, -1.0], [0.3, 0.4]])


def test_maps_within_maps():
    def define(executor):
        scale = tf.Variable(0.7)
        with rtf.SubGraph("inner", executor=executor) as inner:
            inner.output(tf.sin(scale * tf.cast(inner.input(tf.int32), tf.float32)))
        with rtf.SubGraph("middle", executor=executor) as middle:
            n = middle.input(tf.int32)
            middle.output(tf.reduce_sum(inner.map(tf.range(n))) + scale)
        with rtf.SubGraph("outer", executor=executor) as outer:
            n = outer.input(tf.int32)
            outer.output(tf.reduce_sum(middle.map(tf.range(n, 0, -1)) ** 2))
        return outer, [scale]

    both(define, [3, 0, 4])


def test_branches_use_lists_of_the_body_around():
    def define(executor):
        words = tf.Variable([0.1, 0.2, 0.3, 0.4, 0.5])
        children = tf.ragged.constant([[], [0], [0, 1], [], [2, 3, 0]], dtype=tf.int32)
        with rtf.SubGraph(
            "f", executor=executor, output_signature=tf.TensorSpec([])
        ) as f:
            node = f.input(tf.int32)
            kids = tf.gather(children, node)
            word = tf.gather(words, node)

            def inner():
                below = f.map(kids)
                return tf.reduce_sum(below * tf.gather(words, kids)) + word

            f.output(tf.cond(tf.shape(kids)[0] > 0, inner, lambda: word * 2.0))
        return f, [words]

    found = both(define, [4, 0, 2])
    np.testing.assert_allclose(found[0][1], 0.2, rtol=1e-6)


def test_lists_of_two_kinds_are_not_mapped_over_together():
    with rtf.SubGraph("add") as add:
        add.output(add.input(tf.int32) + add.input(tf.int32))
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.reduce_sum(add.map(tf.range(n), tf.range(n * n))))
    explanation = rtf.explain(f)
    assert explanation.executor == "dataflow"
    assert "as many rows as each other" in explanation.reasons[0]


def test_branches_beside_each_other_have_lists_of_their_own():
    def define(executor):
        scale = tf.Variable(0.7)
        rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
        with rtf.SubGraph("cell", executor=executor) as cell:
            cell.output(tf.sin(cell.input(tf.float32) * scale))
        with rtf.SubGraph("f", executor=executor) as f:
            n = f.input(tf.int32)

            def below():
                return tf.reduce_sum(cell.map(tf.gather(rows, n)))

            def twice():
                return tf.reduce_sum(cell.map(tf.gather(rows, n) * 2.0) ** 2)

            first = tf.cond(n > 1, below, twice)
            f.output(first + below())
        return f, [scale]

    both(define, [0, 1, 2])


def test_what_maps_in_a_loop_gets_its_lists_at_each_turn():
    def define(executor):
        scale = tf.Variable(0.9)
        with rtf.SubGraph("cell", executor=executor) as cell:
            x, i = cell.input(tf.float32), cell.input(tf.int32)
            cell.output(tf.tanh(x * scale + tf.cast(i, tf.float32)))
        with rtf.SubGraph("f", executor=executor) as f:
            n = f.input(tf.int32)
            around = tf.range(n)

            def turn(i, total):
                numbers = tf.range(i)
                xs = total + tf.cast(numbers, tf.float32)
                same = tf.reduce_sum(tf.cast(around, tf.float32) * total)
                return i + 1, tf.reduce_sum(cell.map(xs, numbers)) + same

            limit = lambda i, _: i < n  # noqa: E731
            f.output(tf.while_loop(limit, turn, (0, scale * 1.0))[1])
        return f, [scale]

    both(define, [3, 0, 2])


def test_results_that_nobody_reads_are_dropped():
    with rtf.SubGraph("cell", executor="batched") as cell:
        x = cell.input(tf.int32)
        cell.push("x", tf.cast(x, tf.float32) ** 2, index=x, size=5)
        cell.output(x, x + 1)
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.int32)
        cell.map(tf.range(n, 5))
        f.output(n)
    found, pushed = f(2, with_pushed=True)
    assert found.numpy() == 2
    assert pushed["x"].numpy().tolist() == [0, 0, 4, 9, 16]


def test_an_error_in_an_item_has_its_path():
    with rtf.SubGraph("look", executor="batched") as look:
        look.output(tf.gather(WORDS, look.input(tf.int32)))
    with rtf.SubGraph("f", executor="batched") as f:
        f.output(tf.reduce_sum(look.map(tf.range(f.input(tf.int32), 9, 2))))
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        f(4)
    assert "SubGraph 'look' failed at f → call#0[1] (look) in" in str(error.value)


def test_a_limit_in_an_item_has_its_path():
    with rtf.SubGraph(
        "f",
        executor="batched",
        output_signature=tf.TensorSpec([], tf.int32),
        options=rtf.Options(max_activations=3),
    ) as f:
        f.output(1 + tf.reduce_sum(f.map(tf.range(f.input(tf.int32)))))
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"f → call#0\[2\]"):
        f(4)


@pytest.mark.falls_back("that is what it tests")
def test_a_map_over_rows_from_outside_runs_in_the_dataflow_executor():
    with rtf.SubGraph("square") as square:
        square.output(square.input(tf.float32) ** 2)
    with rtf.SubGraph("f") as f:
        f.output(tf.reduce_sum(square.map(f.input(tf.float32, [None]))))
    explanation = rtf.explain(f)
    assert explanation.executor == "dataflow"
    why = "how many rows this map has may differ between activations"
    assert why in explanation.reasons[0]
    assert f(tf.ones([65])).numpy() == 65


def test_items_draw_what_they_draw_in_the_dataflow_executor():
    def define(executor):
        generator = tf.random.Generator.from_seed(5)
        children = tf.ragged.constant([[], [0], [0, 1, 0], [2, 1]], dtype=tf.int32)
        with rtf.SubGraph(
            "f", executor=executor, output_signature=tf.TensorSpec([2])
        ) as f:
            node = f.input(tf.int32)
            below = f.map(tf.gather(children, node))
            f.output(tf.reduce_sum(below * 0.5, 0) + generator.normal([2]))
        return f, []

    (found,) = both(define, [3, 0, 3])
    assert not np.allclose(found[0], found[2])
