"""Root calls in `tf.vectorized_map`: what cannot be one mapped root call says why."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.graphs import define_evaluation, random_graph
from tests.helpers.subgraphs import define_fib


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_there_is_one_root_call(executor):
    fib = define_fib(executor=executor)

    @tf.function
    def run(n):
        return tf.vectorized_map(fib, n)

    assert run(tf.constant([3, 5, 7])).numpy().tolist() == [2, 5, 13]
    graph = run.get_concrete_function(tf.TensorSpec([3], tf.int32)).graph
    calls = [op for op in graph.get_operations() if op.type.startswith("RecursiveInvo")]
    assert sum(op.get_attr("mapped") for op in calls) == 1


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_a_tape_in_a_function_sees_the_root_call(executor):
    w = tf.Variable(1.5)
    with rtf.SubGraph("power", executor=executor) as power:
        n, x = power.input(tf.int32), power.input(tf.float32)
        power.output(tf.cond(n < 1, lambda: x, lambda: w * power(n - 1, x)))

    def slopes(counts, xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            rows = tf.vectorized_map(lambda row: power(*row) * row[1], (counts, xs))
        return tape.gradient(rows, [w, xs])

    counts, xs = tf.constant([2, 1]), tf.constant([0.5, 3.0])
    for run in slopes, tf.function(slopes):
        by_w, by_x = run(counts, xs)
        assert float(by_w) == 2 * 1.5 * 0.25 + 9.0
        assert by_x.numpy().tolist() == [2.25, 2 * 1.5 * 3.0]


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_rows_share_what_is_memoized(executor):
    graph = random_graph(2)
    value = define_evaluation(
        graph, lambda node: tf.cast(node, tf.float32), tf.add, executor=executor
    )
    roots = tf.constant([29, 12, 29])
    found = tf.vectorized_map(value, roots)
    expected = graph.evaluate(float, lambda left, right: left + right)
    assert found.numpy().tolist() == [expected[29], expected[12], expected[29]]


def test_rows_that_captures_differ_in_are_refused():
    def row(x):
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.output(tf.cond(n < 1, lambda: x, lambda: f(n - 1) * 2.0))
        return f(3)

    with pytest.raises(
        rtf.SubGraphError, match=r"'f'.*captures.*Make the tensor an in"
    ):
        tf.vectorized_map(row, tf.constant([1.0, 2.0]))


def test_rows_that_draw_are_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.random.normal([]) + tf.cast(n, tf.float32))
    with pytest.raises(rtf.SubGraphError, match=r"'f'.*a seed, that.*use `.map`"):
        tf.vectorized_map(f, tf.constant([1, 2]))


def test_rows_that_push_are_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=1)
        f.output(n)
    with pytest.raises(rtf.SubGraphError, match=r"'f'.*the same tables. Use `.map`"):
        tf.vectorized_map(lambda n: f(n, with_pushed=True)[1]["n"], tf.constant([1, 2]))


def test_a_call_without_inputs_is_refused():
    with rtf.SubGraph("one") as one:
        one.output(tf.constant(1))
    with pytest.raises(rtf.SubGraphError, match=r"'one'.*has no input"):
        tf.vectorized_map(lambda n: n + one(), tf.constant([1, 2]))
