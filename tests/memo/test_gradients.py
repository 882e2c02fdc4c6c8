"""The gradient of a shared invocation runs once, and is that of all that share it."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.helpers.derivatives import curvatures
from tests.helpers.graphs import define_evaluation, lattice, random_graph

pytestmark = pytest.mark.every_executor

SIZE = 3


@pytest.fixture
def weights():
    random = np.random.default_rng(0)
    shapes = [SIZE, 2 * SIZE], [30, SIZE], [SIZE]
    return [tf.Variable(0.5 * random.normal(size=s), dtype=tf.float32) for s in shapes]


@pytest.fixture
def network(weights):
    """A leaf's value, and that of an inner node by those of its children."""
    matrix, table, bias = weights

    def leaf(node):
        return tf.sin(tf.gather(table, node))

    def inner(left, right):
        both = tf.concat([left, right], 0)
        return tf.tanh(tf.linalg.matvec(matrix, both) + bias)

    return leaf, inner


def gradients_of(loss, weights, **how):
    with tf.GradientTape(**how) as tape:
        y = loss()
    found = [y, *tape.gradient(y, weights)]
    if how:
        assert_all_close(tape.gradient(y, weights), found[1:])
    return found


def assert_same(recursive, unrolled, weights):
    expected = gradients_of(unrolled, weights)
    for loss, how in (
        (recursive, {}),
        (tf.function(recursive), {}),
        (recursive, {"persistent": True}),
    ):
        assert_all_close(gradients_of(loss, weights, **how), expected, rtol=2e-5)


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_have_the_gradients_of_their_unrolled_programs(
    seed, network, weights
):
    graph = random_graph(seed)
    value = define_evaluation(graph, *network)
    upstream = tf.constant(
        np.random.default_rng(seed).normal(size=[4, SIZE]), tf.float32
    )
    roots = [29, 17, 29, 2]

    def unrolled():
        values = graph.evaluate(*network)
        return tf.reduce_sum(upstream * tf.stack([values[root] for root in roots]))

    assert_same(lambda: tf.reduce_sum(upstream * value.map(roots)), unrolled, weights)


def test_gradients_of_gradients(network, weights):
    graph = random_graph(5)
    value = define_evaluation(graph, *network)
    x = tf.constant(1.0)
    found = curvatures(lambda x: tf.sin(x * value(29)), x, weights)
    unrolled = lambda x: tf.sin(x * graph.evaluate(*network)[29])  # noqa: E731
    expected = curvatures(unrolled, x, weights)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            tf.convert_to_tensor(ours),
            tf.convert_to_tensor(theirs),
            rtol=1e-4,
            atol=1e-5,
        )


def test_a_gradient_is_that_of_finite_differences(network, weights):
    graph = random_graph(3)
    value = define_evaluation(graph, *network)
    bias = weights[2]
    loss = lambda: float(tf.reduce_sum(value(29)))  # noqa: E731
    (gradient,) = gradients_of(lambda: tf.reduce_sum(value(29)), [bias])[1:]
    for i in range(SIZE):
        step = 0.01 * np.eye(SIZE, dtype=np.float32)[i]
        bias.assign_add(step)
        above = loss()
        bias.assign_sub(2 * step)
        below = loss()
        bias.assign_add(step)
        np.testing.assert_allclose(gradient[i], (above - below) / 0.02, rtol=2e-2)


def test_a_lattice_sums_over_paths_beyond_number(network, weights):
    graph = lattice(12)
    leaf, inner = network
    bounded = lambda node: leaf(node % 30)  # noqa: E731
    value = define_evaluation(graph, bounded, inner)
    assert_same(
        lambda: tf.reduce_sum(value(graph.size - 1)),
        lambda: tf.reduce_sum(graph.evaluate(bounded, inner)[-1]),
        weights,
    )


def test_a_gradient_comes_through_what_invocations_push(network, weights):
    graph = random_graph(4)
    value = define_evaluation(graph, *network, push=True)
    upstream = tf.constant(np.random.default_rng(0).normal(size=[30, SIZE]), tf.float32)
    reached = reached_from(graph, 29)

    def recursive():
        y, pushed = value(29, with_pushed=True)
        return tf.reduce_sum(upstream * pushed["value"]) + tf.reduce_sum(y)

    def unrolled():
        values = graph.evaluate(*network)
        pushed = [tf.reduce_sum(upstream[node] * values[node]) for node in reached]
        return tf.add_n(pushed) + tf.reduce_sum(values[29])

    assert_same(recursive, unrolled, weights)


def reached_from(graph, root):
    reached, todo = set(), [root]
    while todo:
        node = todo.pop()
        if node >= 0 and node not in reached:
            reached.add(node)
            todo += [int(graph.left[node]), int(graph.right[node])]
    return sorted(reached)


def test_a_table_alone_may_carry_the_gradient(network, weights):
    graph = random_graph(6)
    value = define_evaluation(graph, *network, push=True)
    reached = reached_from(graph, 29)

    def unrolled():
        values = graph.evaluate(*network)
        return tf.add_n([tf.reduce_sum(values[node] ** 2) for node in reached])

    assert_same(
        lambda: tf.reduce_sum(value(29, with_pushed=True)[1]["value"] ** 2),
        unrolled,
        weights,
    )


def test_what_calls_it_may_be_differentiable_in_its_inputs(network, weights):
    """The caller is not memoized, and hands its own vector past the shared one."""
    graph = random_graph(2)
    value = define_evaluation(graph, *network)
    with rtf.SubGraph("walk") as walk:
        node, x = walk.input(tf.int32), walk.input(tf.float32, [SIZE])
        more = lambda: walk(node - 7, x * value(node))  # noqa: E731
        walk.output(tf.cond(node < 0, lambda: tf.sin(x), more))
    x = tf.Variable([0.5, -1.0, 2.0])

    def unrolled():
        values, y = graph.evaluate(*network), x
        for node in range(29, -1, -7):
            y = y * values[node]
        return tf.reduce_sum(tf.sin(y))

    assert_same(lambda: tf.reduce_sum(walk(29, x)), unrolled, [*weights, x])


def test_calls_in_maps_loops_and_branches_add_up(network, weights):
    graph = random_graph(7)
    value = define_evaluation(graph, *network)
    with rtf.SubGraph("mixed") as mixed:
        n = mixed.input(tf.int32)
        mapped = value.map(tf.stack([n, n - 1, n, n - 3]))
        start = tf.constant(0), tf.zeros([SIZE])
        _, looped = tf.while_loop(
            lambda i, _: i < 4,
            lambda i, y: (i + 1, tf.sin(y) + value(n - i)),
            start,
        )
        chosen = tf.cond(n > 20, lambda: 2 * value(n), lambda: value(n - 1))
        mixed.output(tf.reduce_prod(mapped, 0) + looped * chosen)

    def unrolled(n):
        values = graph.evaluate(*network)
        y = tf.zeros([SIZE])
        for i in range(4):
            y = tf.sin(y) + values[n - i]
        chosen = 2 * values[n] if n > 20 else values[n - 1]
        return values[n] ** 2 * values[n - 1] * values[n - 3] + y * chosen

    assert_same(
        lambda: tf.reduce_sum(mixed.map([25, 12])),
        lambda: tf.reduce_sum(unrolled(25) + unrolled(12)),
        weights,
    )


def test_a_loop_in_a_shared_body_is_differentiated():
    w = tf.Variable(0.3)
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)

        def more():
            turn = lambda i, y: (i + 1, y + f(i) * f(n - 1 - i))  # noqa: E731
            start = tf.constant(0), w * 1.0
            return tf.while_loop(lambda i, _: i < n, turn, start)[1]

        f.output(tf.cond(n < 1, lambda: tf.sin(w), more))

    def unrolled():
        values = [tf.sin(w)]
        for n in range(1, 9):
            values.append(
                w + tf.add_n([values[i] * values[n - 1 - i] for i in range(n)])
            )
        return values[8]

    assert_same(lambda: f(8), unrolled, [w])


def test_shared_invocations_of_two_subgraphs_call_each_other():
    v, w = tf.Variable(0.7), tf.Variable(1.2)
    odd = rtf.SubGraph(
        "odd", memo=lambda n: n, output_signature=tf.TensorSpec([], tf.float32)
    )
    with rtf.SubGraph("even", memo=lambda n: n) as even:
        n = even.input(tf.int32)
        more = lambda: v * odd(n - 1) + even(n - 2)  # noqa: E731
        even.output(tf.cond(n < 2, lambda: v + w, more))
    with odd:
        n = odd.input(tf.int32)
        more = lambda: tf.sin(even(n - 1)) * odd(n - 2)  # noqa: E731
        odd.output(tf.cond(n < 2, lambda: w * w, more))

    def unrolled():
        evens, odds = {0: v + w, 1: v + w}, {0: w * w, 1: w * w}
        for n in range(2, 13):
            evens[n] = v * odds[n - 1] + evens[n - 2]
            odds[n] = tf.sin(evens[n - 1]) * odds[n - 2]
        return evens[12]

    assert_same(lambda: even(12), unrolled, [v, w])


def test_several_results_of_which_some_have_no_gradient():
    w = tf.Variable(1.1)
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)

        def more():
            (a, count), (b, _) = f(n - 1)["y"], f(n - 2)["y"]
            return {"y": (w * a + tf.sin(b), count + 1), "unused": b}

        def base():
            return {"y": (w * 1.0, tf.constant(0)), "unused": w * 2.0}

        f.output(tf.cond(n < 2, base, more))

    def unrolled():
        a, b = w * 1.0, w * 1.0
        for _ in range(9):
            a, b = w * a + tf.sin(b), a
        return a

    assert_same(lambda: f(10)["y"][0], unrolled, [w])
    assert int(f(10)["y"][1]) == 9


def test_what_no_gradient_reaches_has_none():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: v * 1.0, lambda: f(n - 1) + f(n - 1)))
    with tf.GradientTape() as tape:
        y = f(3)
    of_v, of_w = tape.gradient(y, [v, w])
    assert of_v.numpy() == 8.0
    assert of_w is None


def test_two_root_calls_in_one_loss_share_nothing(network, weights):
    graph = random_graph(9)
    value = define_evaluation(graph, *network)

    def unrolled():
        one, other = graph.evaluate(*network), graph.evaluate(*network)
        return tf.reduce_sum(one[29] * other[28])

    assert_same(lambda: tf.reduce_sum(value(29) * value(28)), unrolled, weights)


def test_a_chain_of_thousands_has_a_gradient():
    w = tf.Variable(1.0)
    with rtf.SubGraph("f", memo=lambda n: n, options=rtf.Options(max_depth=None)) as f:
        n = f.input(tf.int32)
        more = lambda: 0.5 * w * (f(n - 1) + f(n - 1))  # noqa: E731
        f.output(tf.cond(n < 1, lambda: w * 1.0, more))
    with tf.GradientTape() as tape:
        y = f(5000)
    np.testing.assert_allclose(tape.gradient(y, w), 5001, rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_have_gradients(seed, network, weights):
    graph = random_graph(seed, size=12)
    value = define_evaluation(graph, *network)

    def by_bias(loss):
        with tf.GradientTape() as tape:
            y = loss()
        return tf.reduce_sum(tf.sin(tape.gradient(y, weights[2])))

    def unrolled():
        return tf.reduce_sum(graph.evaluate(*network)[11] ** 2)

    assert_same(
        lambda: by_bias(lambda: tf.reduce_sum(value(11) ** 2)),
        lambda: by_bias(unrolled),
        weights,
    )


def test_a_saved_program_has_its_gradients(tmp_path, network, weights):
    graph = random_graph(1)
    value = define_evaluation(graph, *network)
    module = tf.Module()
    module.weights = weights
    module.run = tf.function(value).get_concrete_function(tf.TensorSpec([], tf.int32))
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    found = gradients_of(
        lambda: tf.reduce_sum(loaded.run(tf.constant(29))), list(loaded.weights)
    )
    expected = gradients_of(
        lambda: tf.reduce_sum(graph.evaluate(*network)[29]), weights
    )
    assert_all_close(found, expected, rtol=2e-5)


@pytest.mark.falls_back("an assertion in a gradient")
def test_a_gradient_that_fails_says_where():
    @tf.custom_gradient
    def fragile(x):
        def gradient(dy):
            with tf.control_dependencies([tf.debugging.assert_less(dy, 2.5)]):
                return tf.identity(dy)

        return tf.identity(x), gradient

    w = tf.Variable(1.0)
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)
        more = lambda: fragile(f(n - 1) + f(n - 1))  # noqa: E731
        f.output(tf.cond(n < 1, lambda: w * 1.0, more))
    with tf.GradientTape() as tape:
        y = f(2)
    np.testing.assert_allclose(tape.gradient(y, w), 4.0)
    with tf.GradientTape() as tape:
        y = f(4)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="SubGraph 'f' failed at f"
    ):
        tape.gradient(y, w)
