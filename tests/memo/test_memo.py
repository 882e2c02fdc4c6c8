"""`memo=`: invocations with one key are one, within a root call."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.graphs import define_evaluation, lattice, random_graph

pytestmark = pytest.mark.every_executor


def define_fib(**choices):
    with rtf.SubGraph("fib", memo=lambda n: n, **choices) as fib:
        n = fib.input(tf.int32)
        more = lambda: fib(n - 1) + fib(n - 2)  # noqa: E731
        fib.output(tf.cond(n < 2, lambda: tf.cast(n, tf.int64), more))
    return fib


def leaf(node):
    return 7 * node + 2


def inner(left, right):
    return (3 * left + right * right + 1) % 1009


def test_fib_takes_as_many_invocations_as_it_has_numbers():
    assert int(define_fib()(90)) == 2880067194370816120


@pytest.mark.parametrize("seed", range(12))
def test_every_node_of_a_graph_is_evaluated_once(seed):
    graph = random_graph(seed)
    value = define_evaluation(graph, leaf, inner, push=True)
    expected = np.array(graph.evaluate(leaf, inner))
    roots = np.array([29, 3, 17, 29, 28], np.int32)
    for run in (value.map, tf.function(value.map)):
        found, pushed = run(roots, with_pushed=True)
        np.testing.assert_array_equal(found, expected[roots])
        table = pushed["value"].numpy()
        reached = table != 0
        np.testing.assert_array_equal(table[reached], expected[reached])
        assert reached[roots].all()


def test_a_lattice_of_paths_beyond_number():
    graph = lattice(40)
    value = define_evaluation(graph, lambda _: 1, lambda a, b: (a + b) % 1009)
    expected = graph.evaluate(lambda _: 1, lambda a, b: (a + b) % 1009)
    assert int(value(graph.size - 1)) == expected[-1]


def test_a_chain_of_thousands_of_shared_invocations():
    with rtf.SubGraph(
        "chain", memo=lambda n: n, options=rtf.Options(max_depth=None)
    ) as chain:
        n = chain.input(tf.int32)
        more = lambda: (chain(n - 1) + chain(n - 1)) % 1009  # noqa: E731
        chain.output(tf.cond(n < 1, lambda: 1, more))
    assert int(chain(20000)) == pow(2, 20000, 1009)


def test_who_asks_later_gets_what_the_first_one_got():
    with rtf.SubGraph("half", memo=lambda n: n // 2) as half:
        n = half.input(tf.int32)
        half.output(10 * n)
    a, b, c = half.map([4, 5, 7]).numpy()
    assert a == b in (40, 50)
    assert c == 70


def test_keys_live_for_one_root_call():
    scale = tf.Variable(2)
    with rtf.SubGraph("scaled", memo=lambda n: 0 * n) as scaled:
        n = scaled.input(tf.int32)
        scaled.output(scale * n)

    @tf.function
    def both():
        first = scaled(3)
        scale.assign(5)
        return first, scaled(4)

    assert [int(y) for y in both()] == [6, 20]
    assert int(scaled(6)) == 30


def test_keys_of_two_subgraphs_do_not_meet():
    is_even = rtf.SubGraph(
        "is_even", memo=lambda n: n, output_signature=tf.TensorSpec([], tf.bool)
    )
    with rtf.SubGraph("is_odd", memo=lambda n: n) as is_odd:
        n = is_odd.input(tf.int32)
        is_odd.output(tf.cond(n < 1, lambda: False, lambda: is_even(n - 1)))
    with is_even:
        n = is_even.input(tf.int32)
        no = lambda: tf.logical_and(is_odd(n - 1), is_odd(n - 1))  # noqa: E731
        is_even.output(tf.cond(n < 1, lambda: True, no))
    assert is_even.map([0, 1, 30, 31]).numpy().tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    "key",
    [
        lambda n: -n,
        lambda n: tf.cast(n, tf.int64) * 2**33,
        lambda n: tf.cast(n, tf.int64),
        lambda n: n % 1000 + 1000 * (n // 1000),
    ],
    ids=["negative", "large", "int64", "computed"],
)
def test_a_key_is_any_number_of_32_or_64_bits(key):
    with rtf.SubGraph("fib", memo=key) as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    assert fib.map([30, 7, 30, 1]).numpy().tolist() == [832040, 13, 832040, 1]


def test_a_key_may_be_the_same_for_all():
    with rtf.SubGraph("once", memo=lambda n: 0) as once:
        n = once.input(tf.int32)
        once.push("n", n, index=0, size=1)
        once.output(n)
    found, pushed = once.map([8, 8, 8], with_pushed=True)
    assert found.numpy().tolist() == [8, 8, 8]
    assert pushed["n"].numpy().tolist() == [8]


def test_a_key_may_be_made_of_several_inputs_and_captures():
    width = tf.constant(100)
    with rtf.SubGraph("paths", memo=lambda at: at["i"] * width + at["j"]) as paths:
        at = paths.input({"i": tf.TensorSpec([], tf.int32), "j": tf.int32})
        i, j = at["i"], at["j"]

        def more():
            up, left = {"i": i - 1, "j": j}, {"i": i, "j": j - 1}
            return paths(up) + paths(left)

        is_edge = tf.logical_or(i < 1, j < 1)
        paths.output(tf.cond(is_edge, lambda: tf.constant(1, tf.int64), more))
    assert int(paths({"i": 16, "j": 16})) == 601080390


@pytest.mark.falls_back("ragged inputs")
def test_inputs_may_be_ragged_integers():
    with rtf.SubGraph("total", memo=lambda numbers, key: key) as total:
        spec = tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=1)
        numbers = total.input(spec)
        total.input(tf.int32)
        total.output(tf.reduce_sum(numbers.flat_values))
    assert int(total(tf.ragged.constant([[1, 2], [3]]), 0)) == 6


def test_a_subgraph_that_is_not_memoized_calls_one_that_is():
    fib = define_fib()
    with rtf.SubGraph("sum") as total:
        n = total.input(tf.int32)
        more = lambda: fib(n) + total(n - 1)  # noqa: E731
        total.output(tf.cond(n < 1, lambda: tf.constant(0, tf.int64), more))
    assert int(total(60)) == 4052739537880


def test_a_memoized_subgraph_calls_one_that_is_not():
    with rtf.SubGraph("square") as square:
        n = square.input(tf.int32)
        square.output(n * n)
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)
        more = lambda: (square(f(n - 1)) + square(f(n - 1))) % 1009  # noqa: E731
        f.output(tf.cond(n < 1, lambda: 1, more))
    expected = 1
    for _ in range(40):
        expected = 2 * expected**2 % 1009
    assert int(f(40)) == expected


def test_calls_in_maps_loops_and_cases_share():
    fib = define_fib()
    with rtf.SubGraph("mixed") as mixed:
        n = mixed.input(tf.int32)
        mapped = tf.reduce_sum(fib.map(tf.stack([n, n - 1, n])))
        start = tf.constant(0), tf.constant(0, tf.int64)
        _, looped = tf.while_loop(
            lambda i, _: i < n, lambda i, y: (i + 1, y + fib(i)), start
        )
        cases = [lambda: fib(n), lambda: fib(n - 5)]
        mixed.output(mapped + looped + tf.switch_case(n % 2, cases))

    def of(n):
        return int(fib(n))

    for n in (20, 21):
        expected = 2 * of(n) + of(n - 1) + sum(map(of, range(n)))
        assert int(mixed(n)) == expected + of(n if n % 2 == 0 else n - 5)


def test_a_loop_in_a_shared_body_calls_it():
    with rtf.SubGraph("catalan", memo=lambda n: n) as catalan:
        n = catalan.input(tf.int32)

        def more():
            def turn(i, total):
                return i + 1, total + catalan(i) * catalan(n - 1 - i)

            start = tf.constant(0), tf.constant(0, tf.int64)
            return tf.while_loop(lambda i, _: i < n, turn, start)[1]

        catalan.output(tf.cond(n < 1, lambda: tf.constant(1, tf.int64), more))
    assert int(catalan(25)) == 4861946401452


@pytest.mark.falls_back("an effect")
def test_what_it_does_beside_is_done_once_for_each_key():
    count = tf.Variable(0)
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)
        with tf.control_dependencies([count.assign_add(1)]):
            n = tf.identity(n)
        f.output(tf.cond(n < 1, lambda: 1, lambda: f(n - 1) + f(n - 1)))
    assert int(f(10)) == 1024
    assert int(count) == 11


def test_an_explanation_says_what_runs_once():
    fib = define_fib()
    fib(3)
    said = str(rtf.explain(fib))
    assert "once for each key" in said
    assert "call#0 of fib" in said or "calls fib, fib" in said


def test_a_saved_program_shares_too(tmp_path):
    graph = random_graph(1)
    value = define_evaluation(graph, leaf, inner, push=True)
    module = tf.Module()
    module.run = tf.function(
        lambda node: value(node, with_pushed=True)
    ).get_concrete_function(tf.TensorSpec([], tf.int32))
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    found, _ = loaded.run(tf.constant(29))
    assert int(found) == graph.evaluate(leaf, inner)[29]


@pytest.mark.parametrize("rows", [[6, 5, 4], [4, 6, 5]])
def test_random_numbers_follow_from_the_key(rows):
    """Whoever asks first, in whatever executor, what is shared draws the same."""

    def run(**choices):
        with rtf.SubGraph("f", memo=lambda n: n, **choices) as f:
            n = f.input(tf.int32)
            y = tf.cond(n < 1, lambda: 1.0, lambda: f(n - 1) + 2 * f(n - 1))
            f.output(y * tf.random.normal([]))
        tf.random.set_seed(7)
        return dict(zip(rows, f.map(rows).numpy(), strict=True))

    found = run()
    assert len(set(found.values())) == 3
    for executor in ("dataflow", "batched"):
        again = run(executor=executor)
        for row, value in found.items():
            np.testing.assert_allclose(again[row], value, rtol=1e-5)
