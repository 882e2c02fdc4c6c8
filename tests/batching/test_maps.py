"""Maps in bodies in lock step: a call for each row, where it is known how many."""

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
    assert "f → call#0 (look), f → call#0[1] (look), f → call#0[2]" in str(error.value)


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ([None], "how many rows this map has may differ between activations"),
    ],
)
def test_other_maps_run_in_the_dataflow_executor(shape, why):
    with rtf.SubGraph("square") as square:
        square.output(square.input(tf.float32) ** 2)
    with rtf.SubGraph("f") as f:
        f.output(tf.reduce_sum(square.map(f.input(tf.float32, shape))))
    explanation = rtf.explain(f)
    assert explanation.executor == "dataflow"
    assert why in explanation.reasons[0]
    assert f(tf.ones([65])).numpy() == 65
