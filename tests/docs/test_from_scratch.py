"""The oracle is right, and independent: docs/from_scratch.py."""

import ast

import numpy as np
import pytest

from tests.helpers.differences import central_differences
from tests.helpers.from_scratch import SOURCE, fs

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


def test_columns_of_a_mapped_call_have_gradients_by_row():
    with fs.SubGraph("square") as square:
        x, y = square.input(), square.input()
        square.output(x * x + y)
    _, tape = square.run([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], mapped=True)
    dx, dy = tape.gradient([1.0, 10.0, 100.0]).inputs
    np.testing.assert_array_equal(dx, [2.0, 40.0, 600.0])
    np.testing.assert_array_equal(dy, [1.0, 10.0, 100.0])


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
        expected = central_differences(loss, array)
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
