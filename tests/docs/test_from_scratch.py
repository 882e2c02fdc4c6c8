"""The oracle is right, and independent: docs/from_scratch.py."""

import ast
import importlib.util
import pathlib

import numpy as np
import pytest

from tests.helpers import equations

SOURCE = pathlib.Path(__file__).parents[2] / "docs" / "from_scratch.py"


def _load():
    spec = importlib.util.spec_from_file_location("from_scratch", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fs = _load()


# --- What it computes


def fib_graph():
    with fs.SubGraph("fib") as fib:
        n = fib.input()
        fib.output(fs.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    return fib


def test_fib_of_20_is_6765():
    value, _ = fib_graph().run(20)
    assert value == 6765
    assert value.dtype.kind == "i"


def test_ackermann_calls_itself_on_its_own_result():
    with fs.SubGraph("ackermann") as ackermann:
        m, n = ackermann.input(), ackermann.input()
        ackermann.output(
            fs.cond(
                fs.equal(m, 0),
                lambda: n + 1,
                lambda: fs.cond(
                    fs.equal(n, 0),
                    lambda: ackermann(m - 1, 1),
                    lambda: ackermann(m - 1, ackermann(m, n - 1)),
                ),
            )
        )
    assert ackermann.run(2, 3)[0] == 9


@pytest.mark.parametrize("n", [0, 1, 6, 7])
def test_even_and_odd_call_each_other(n):
    even, odd = fs.SubGraph("even"), fs.SubGraph("odd")
    with even:
        m = even.input()
        even.output(fs.cond(fs.equal(m, 0), lambda: 1, lambda: odd(m - 1)))
    with odd:
        m = odd.input()
        odd.output(fs.cond(fs.equal(m, 0), lambda: 0, lambda: even(m - 1)))
    assert even.run(n)[0] == (n % 2 == 0)


def fold_graph(items):
    """Folds x -> tanh(x + item) over a captured list, from its end."""
    with fs.SubGraph("fold") as fold:
        k, x = fold.input(), fold.input()
        fold.output(
            fs.cond(
                k < len(items.value),
                lambda: fs.tanh(fold(k + 1, x) + fs.gather(items, k)),
                lambda: x,
            )
        )
    return fold


def test_list_fold_has_the_value_and_gradients_of_the_loop():
    items = fs.Capture([0.3, -0.2, 0.5])
    value, tape = fold_graph(items).run(0, 0.1)
    gradients = tape.gradient(1.0)

    states, slope, expected = [0.1], 1.0, np.zeros(3)
    for item in items.value[::-1]:
        states.append(np.tanh(states[-1] + item))
    for k in range(3):
        slope *= 1 - states[3 - k] ** 2
        expected[k] = slope
    np.testing.assert_allclose(value, states[-1])
    np.testing.assert_allclose(gradients[items], expected)
    np.testing.assert_allclose(gradients.inputs[1], slope)


def test_a_chain_of_3000_invocations_has_value_and_gradient():
    items = fs.Capture(np.full(3000, 1e-3))
    value, tape = fold_graph(items).run(0, 0.0)
    assert len(tape.cache) == 3001
    assert np.isfinite(value)
    slopes = tape.gradient(1.0)[items]
    assert slopes.shape == (3000,)
    assert (slopes > 0).all()


def test_a_recursion_without_end_is_stopped():
    with fs.SubGraph("forever") as forever:
        n = forever.input()
        forever.output(forever(n + 1))
    with pytest.raises(RecursionError, match="deeper than 5000"):
        forever.run(0)


# --- TreeLSTM: values, gradients, pushes

TREE = {  # ((0 1) 2)
    "left": np.array([-1, -1, -1, 0, 3]),
    "right": np.array([-1, -1, -1, 1, 2]),
    "tokens": np.array([4, 0, 4, 0, 0]),
}


def random_tree(rng, num_leaves):
    """Joins random neighbors until one is left; it is the last node."""
    left, right = [-1] * num_leaves, [-1] * num_leaves
    roots = list(range(num_leaves))
    while len(roots) > 1:
        k = rng.integers(len(roots) - 1)
        left.append(roots[k])
        right.append(roots[k + 1])
        roots[k : k + 2] = [len(left) - 1]
    return {
        "left": np.array(left),
        "right": np.array(right),
        "tokens": rng.integers(5, size=len(left)),
    }


def random_weights(rng, embedding=3, hidden=2):
    shapes = {
        "embedding": (5, embedding),
        "leaf": (embedding, 3 * hidden),
        "leaf_bias": (3 * hidden,),
        "internal": (2 * hidden, 5 * hidden),
        "internal_bias": (5 * hidden,),
    }
    return {name: fs.Capture(rng.normal(size=shape)) for name, shape in shapes.items()}


# What the weights are called in the layer that the equations are written for.
KERAS_NAMES = {
    "leaf_kernel": "leaf",
    "leaf_bias": "leaf_bias",
    "recurrent_kernel": "internal",
    "recurrent_bias": "internal_bias",
}


def direct_tree_lstm(tree, weights, node, states):
    """A Python function that calls itself; fills `states` with the h of each node."""
    arrays = {name: weights[ours].value for name, ours in KERAS_NAMES.items()}
    cell = equations.TreeLSTM(arrays)

    def visit(node):
        children = [tree[side][node] for side in ("left", "right")]
        x = weights["embedding"].value[tree["tokens"][node]]
        state = cell(x, [visit(child) for child in children if child >= 0])
        states[node] = state[0]
        return state

    return visit(node)


def central_difference(loss, array, step=1e-5):
    """Returns the gradient of loss() by the elements of an array, changed in place."""
    gradient = np.zeros_like(array)
    for at in np.ndindex(array.shape):
        kept = array[at]
        array[at] = kept + step
        above = loss()
        array[at] = kept - step
        gradient[at] = (above - loss()) / (2 * step)
        array[at] = kept
    return gradient


def assert_gradients_match(loss, gradients, captures):
    for capture in captures:
        expected = central_difference(loss, capture.value)
        np.testing.assert_allclose(
            gradients[capture], expected, rtol=1e-6, atol=1e-6 * abs(expected).max()
        )


@pytest.mark.parametrize("num_leaves", [1, 2, 5, 9])
def test_tree_lstm_is_equal_to_the_direct_recursion(num_leaves):
    rng = np.random.default_rng(num_leaves)
    tree, weights = random_tree(rng, num_leaves), random_weights(rng)
    root = 2 * num_leaves - 2
    (h, c), tape = fs.tree_lstm(tree, weights).run(root)
    states = {}
    expected = direct_tree_lstm(tree, weights, root, states)
    np.testing.assert_allclose([h, c], expected, rtol=1e-12)
    for node, state in states.items():
        np.testing.assert_allclose(tape.pushed["h"][node], state, rtol=1e-12)


@pytest.mark.parametrize("num_leaves", [1, 2, 5])
def test_tree_lstm_gradients_are_equal_to_central_differences(num_leaves):
    rng = np.random.default_rng(num_leaves)
    tree, weights = random_tree(rng, num_leaves), random_weights(rng)
    root, cell = 2 * num_leaves - 2, fs.tree_lstm(tree, weights)
    dh, dc = rng.normal(size=(2, 2))

    def loss():
        (h, c), _ = cell.run(root)
        return h @ dh + c @ dc

    _, tape = cell.run(root)
    assert_gradients_match(loss, tape.gradient(dh, dc), weights.values())


def test_gradients_of_pushed_values_flow_back_row_by_row():
    rng = np.random.default_rng(0)
    tree, weights = random_tree(rng, 4), random_weights(rng)
    cell, cotangent = fs.tree_lstm(tree, weights), rng.normal(size=(7, 2))

    def loss():
        return (cell.run(6)[1].pushed["h"] * cotangent).sum()

    _, tape = cell.run(6)
    gradients = tape.gradient(pushed={"h": cotangent})
    assert_gradients_match(loss, gradients, weights.values())


def test_rows_that_no_invocation_pushed_are_zeros():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(3)
    np.testing.assert_array_equal(tape.pushed["h"][[2, 4]], np.zeros((2, 2)))


def test_a_row_that_is_pushed_twice_is_refused():
    weights = random_weights(np.random.default_rng(0))
    with pytest.raises(IndexError, match="Row 0 of 'h' is taken"):
        fs.tree_lstm(TREE, weights).run([0, 0], mapped=True)


# --- Mapped calls


def test_a_mapped_root_is_one_run_over_several_trees():
    rng = np.random.default_rng(1)
    weights = random_weights(rng)
    cell, dh = fs.tree_lstm(TREE, weights), rng.normal(size=(2, 2))

    def loss():
        (h, _), tape = cell.run([3, 2], mapped=True)
        return (h * dh).sum() + tape.pushed["h"].sum()

    (h, _), tape = cell.run([3, 2], mapped=True)
    np.testing.assert_allclose(h[0], cell.run(3)[0][0])
    np.testing.assert_allclose(h[1], cell.run(2)[0][0])
    gradients = tape.gradient(dh, None, pushed={"h": 1.0})
    assert_gradients_match(loss, gradients, weights.values())


def test_columns_of_a_mapped_call_have_gradients_by_row():
    with fs.SubGraph("square") as square:
        x, y = square.input(), square.input()
        square.output(x * x + y)
    _, tape = square.run([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], mapped=True)
    dx, dy = tape.gradient([1.0, 10.0, 100.0]).inputs
    np.testing.assert_array_equal(dx, [2.0, 40.0, 600.0])
    np.testing.assert_array_equal(dy, [1.0, 10.0, 100.0])


# --- The cache


def test_the_cache_has_one_entry_for_each_path():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(4)
    assert set(tape.cache) == {(), (0,), (1,), (0, 0), (0, 1)}


def test_rows_of_a_mapped_root_are_told_apart_by_an_ordinal():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run([3, 2], mapped=True)
    assert set(tape.cache) == {(0,), (0, 0), (0, 1), (1,)}


def test_a_gradient_leaves_the_cache_as_it_is_and_can_run_again():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(4)
    before = {path: dict(values) for path, values in tape.cache.items()}
    first = tape.gradient(1.0, 1.0)[weights["internal"]]
    second = tape.gradient(1.0, 1.0)[weights["internal"]]
    np.testing.assert_array_equal(first, second)
    assert tape.cache == before


def test_a_capture_in_the_branch_not_taken_has_zeros():
    weights = random_weights(np.random.default_rng(0))
    _, tape = fs.tree_lstm(TREE, weights).run(0)
    gradient = tape.gradient(1.0, 1.0)[weights["internal"]]
    np.testing.assert_array_equal(gradient, np.zeros((4, 10)))


# --- Operations

A, B = np.random.default_rng(7).normal(size=(2, 3, 4))
VECTOR = np.array([0.5, -1.0, 2.0, 0.3])


@pytest.mark.parametrize(
    ("apply", "arguments"),
    [
        (lambda x, y: x + y, (A, VECTOR)),
        (lambda x, y: x - y, (VECTOR, A)),
        (lambda x, y: x * y, (A, A[:, :1])),
        (lambda x, y: x % y, (A, VECTOR)),
        (lambda x, y: x - x // y * y, (A, VECTOR)),
        (lambda x, y: x @ y, (A, VECTOR)),
        (lambda x, y: x @ y, (A[0], VECTOR)),
        (lambda x, y: x @ y, (VECTOR, A.T)),
        (lambda x, y: x @ y, (A, B.T)),
        (lambda x: A.T @ x, (B,)),
        (lambda x: 2.0 - (-x) * 3.0, (A,)),
        (fs.tanh, (A,)),
        (fs.sigmoid, (A,)),
        (lambda x: fs.gather(x, np.array([2, 0, 2])), (A,)),
        (lambda x: fs.split(x, 2)[1], (A,)),
        (lambda x, y: fs.concat([x, y]), (A, B)),
        (lambda x, y: fs.concat([x, y], axis=0), (A, B[:1])),
        (fs.reduce_sum, (A,)),
        (lambda x: fs.cond(fs.reduce_sum(x) < 99, lambda: x * x, lambda: x), (A,)),
    ],
)
def test_gradient_of_an_operation_is_equal_to_central_differences(apply, arguments):
    with fs.SubGraph() as graph:
        graph.output(apply(*[graph.input() for _ in arguments]))
    arguments = [array.copy() for array in arguments]
    value, tape = graph.run(*arguments)
    cotangent = np.random.default_rng(3).normal(size=value.shape)

    def loss():
        return (graph.run(*arguments)[0] * cotangent).sum()

    gradients = tape.gradient(cotangent).inputs
    for gradient, array in zip(gradients, arguments, strict=True):
        expected = central_difference(loss, array)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_integer_arithmetic_stays_in_integers():
    with fs.SubGraph(num_outputs=4) as graph:
        a, b = graph.input(), graph.input()
        graph.output(a // b, a % b, a >= b, fs.equal(a, 3 * b + 1))
    values, _ = graph.run(7, 2)
    assert [value.tolist() for value in values] == [3, 1, True, True]


# --- What it refuses


def test_a_node_has_no_truth_value_while_tracing():
    with fs.SubGraph() as graph, pytest.raises(TypeError, match="cond"):
        bool(graph.input() < 2)


def test_a_subgraph_that_never_got_its_outputs_is_refused():
    with pytest.raises(ValueError, match=r"'empty' is called but output\(\)"):
        fs.SubGraph("empty").run()


def test_another_number_of_outputs_than_promised_is_refused():
    with fs.SubGraph("one") as one:
        one.output(1, 2)
    with fs.SubGraph() as caller:
        caller.output(one())
    with pytest.raises(ValueError, match=r"zip\(\)"):
        caller.run()


def test_branches_of_unequally_many_values_are_refused():
    with fs.SubGraph() as graph:
        n = graph.input()
        graph.output(fs.cond(n < 0, lambda: (n, n), lambda: n))
    with pytest.raises(ValueError, match=r"zip\(\)"):
        graph.run(1)


def test_cotangents_of_what_the_run_does_not_have_are_refused():
    _, tape = fib_graph().run(1)
    with pytest.raises(ValueError, match=r"zip\(\)"):
        tape.gradient(1.0, 1.0)
    with pytest.raises(KeyError, match="h"):
        tape.gradient(pushed={"h": 1.0})


def test_columns_of_unequal_lengths_are_refused():
    with fs.SubGraph("add") as graph:
        graph.output(graph.input() + graph.input())
    with pytest.raises(ValueError, match="unpack"):
        graph.run([1, 2], [1, 2, 3], mapped=True)


# --- The file itself


def test_it_imports_neither_tensorflow_nor_the_library():
    imported = set()
    for node in ast.walk(ast.parse(SOURCE.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module.split(".")[0])
    assert imported <= {"__future__", "collections", "itertools", "numpy", "typing"}


def test_the_demonstration_prints_a_power_and_its_derivative(capsys):
    fs.main()
    first, second = capsys.readouterr().out.splitlines()
    paths = [(), (0,), (1,), (1, 0), (1, 1)]
    assert first == f"2^3 = 8.0, by the invocations {paths}"
    assert second == "d x^3 / dx = 12.0 at 2"
