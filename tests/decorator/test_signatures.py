"""What a decorated function takes and returns is found out by tracing its body."""

import threading

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.threads import run_in_threads

INT = tf.TensorSpec([], tf.int32)


def signatures(function):
    return [repr(subgraph).split("' ")[1][:-1] for subgraph in function.subgraphs]


# --- Results


def test_what_is_returned_is_found_in_two_passes():
    passes = []

    @rtf.subgraph
    def fib(n):
        passes.append(n)
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    assert int(fib(10)) == 55
    assert len(passes) == 2


def test_an_annotation_saves_a_pass():
    passes = []

    @rtf.subgraph
    def fib(n) -> tf.int32:
        passes.append(n)
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    assert int(fib(10)) == 55
    assert len(passes) == 1


def test_a_function_that_does_not_recur_is_traced_once():
    passes = []

    @rtf.subgraph
    def double(n):
        passes.append(n)
        return 2 * n

    assert int(double(4)) == 8
    assert len(passes) == 1


@pytest.mark.every_executor
@pytest.mark.falls_back("an unknown shape")
def test_a_dimension_that_grows_is_unknown():
    @rtf.subgraph
    def down(n):
        if n < 1:
            return tf.zeros([1, 3])
        return tf.concat([down(n - 1), tf.ones([1, 3])], 0)

    assert tf.reduce_sum(down(4), 1).numpy().tolist() == [0, 3, 3, 3, 3]
    assert signatures(down) == ["(int32[]) -> float32[?, 3]"]


@pytest.mark.every_executor
@pytest.mark.falls_back("an unknown shape")
def test_a_dimension_that_differs_between_branches_is_unknown():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return tf.zeros([2])
        return tf.concat([f(n - 1)[:1], [1.0, 2.0]], 0)

    assert f(2).numpy().tolist() == [0, 1, 2]
    assert signatures(f) == ["(int32[]) -> float32[?]"]


def test_shapes_that_agree_stay_known():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return {"h": tf.zeros([2, 3]), "n": n}
        below = f(n - 1)
        return {"h": tf.tanh(below["h"]), "n": below["n"] + 1}

    f(2)
    assert signatures(f) == ["(int32[]) -> {h: float32[2, 3], n: int32[]}"]


@pytest.mark.every_executor
@pytest.mark.falls_back("an unknown shape")
def test_a_rank_that_grows_is_unknown():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return tf.zeros([])
        return tf.expand_dims(f(n - 1), 0)

    assert f(3).shape == [1, 1, 1]
    assert signatures(f) == ["(int32[]) -> float32[...]"]


@pytest.mark.every_executor
@pytest.mark.falls_back("an unknown shape")
def test_shapes_of_functions_that_call_each_other_are_found_together():
    @rtf.subgraph
    def even(n):
        if n < 1:
            return tf.zeros([1])
        return tf.concat([odd(n - 1), [0.0]], 0)

    @rtf.subgraph
    def odd(n):
        if n < 1:
            return tf.ones([1])
        return tf.concat([even(n - 1), [1.0]], 0)

    assert even(4).numpy().tolist() == [0, 1, 0, 1, 0]
    assert signatures(even) == signatures(odd) == ["(int32[]) -> float32[?]"]


def test_functions_that_call_each_other_are_traced_a_few_times():
    passes = []

    @rtf.subgraph
    def first(n):
        passes.append("first")
        if n < 1:
            return 1
        return first(n - 1) + second(n - 1) + third(n - 1)

    @rtf.subgraph
    def second(n):
        passes.append("second")
        if n < 1:
            return 2
        return first(n - 1) + second(n - 1) + third(n - 1)

    @rtf.subgraph
    def third(n):
        passes.append("third")
        if n < 1:
            return 3
        return first(n - 1) + second(n - 1) + third(n - 1)

    assert int(first(2)) == 6 + 6 + 6
    assert len(passes) <= 9


# --- Inputs


@pytest.mark.every_executor
@pytest.mark.falls_back("a shape differs from call to call")
def test_an_input_that_a_call_of_itself_makes_smaller_has_an_unknown_dimension():
    @rtf.subgraph
    def total(x):
        if tf.size(x) < 1:
            return 0.0
        return x[0] + total(x[1:])

    assert float(total([1.0, 2.0, 3.0])) == 6
    assert signatures(total) == ["(float32[?]) -> float32[]"]
    assert float(total([1.0, 2.0, 3.0, 4.0])) == 10
    assert len(total.subgraphs) == 1


@pytest.mark.every_executor
@pytest.mark.falls_back("an unknown shape")
def test_an_input_is_relaxed_by_a_call_from_another_function():
    @rtf.subgraph
    def f(x, n):
        if n < 1:
            return tf.reduce_sum(x)
        return g(tf.concat([x, x], 0), n - 1)

    @rtf.subgraph
    def g(x, n):
        if n < 1:
            return -tf.reduce_sum(x)
        return f(x, n - 1)

    assert [int(f([1, 2], n)) for n in range(4)] == [3, -6, 6, -12]


def test_an_input_of_another_rank_is_another_subgraph():
    @rtf.subgraph
    def total(x):
        if x.shape.rank == 0:
            return x
        return total(tf.reduce_sum(x, 0))

    assert float(total(tf.ones([2, 3, 4]))) == 24
    assert len(total.subgraphs) == 4


def test_an_input_of_another_dtype_is_another_subgraph():
    @rtf.subgraph
    def f(x):
        if x < 1:
            return x
        return f(x - 1)

    assert [float(f(3)), float(f(2.5)), float(f(tf.constant(2.0, tf.float64)))] == [
        0,
        0.5,
        0,
    ]
    assert len(f.subgraphs) == 3


# --- When it is traced


def test_a_signature_is_traced_once():
    passes = []

    @rtf.subgraph
    def f(x, n):
        passes.append(n)
        if n < 1:
            return x
        return f(x, n - 1)

    for _ in range(3):
        f([1.0, 2.0], 2)
        f(tf.zeros([2]), tf.constant(3))
    assert len(passes) == 2
    f([1.0, 2.0, 3.0], 2)
    assert len(passes) == 4


def test_the_most_special_subgraph_is_called():
    @rtf.subgraph
    def f(x):
        return x + 1

    special = f.subgraph_for(tf.TensorSpec([2]))
    general = f.subgraph_for(tf.TensorSpec([None]))
    assert f.subgraph_for([1.0, 2.0]) is special
    assert f.subgraph_for([1.0, 2.0, 3.0]) is general


def test_each_function_around_it_traces_it_again():
    passes = []

    @rtf.subgraph
    def f(n) -> tf.int32:
        passes.append(n)
        if n < 1:
            return 0
        return f(n - 1)

    f(1)
    run = tf.function(lambda n: tf.cond(n > 2, lambda: f(n), lambda: f(n + 1)) + f(n))
    other = tf.function(lambda n: f(n))
    for _ in range(2):
        run(tf.constant(1))
        other(tf.constant(1))
    assert len(passes) == 3
    assert len(f.subgraphs) == 1


def test_a_function_that_another_calls_is_traced_with_it():
    @rtf.subgraph
    def double(x):
        return 2 * x

    @rtf.subgraph
    def f(n):
        if n < 1:
            return 1
        return double(f(n - 1))

    assert int(f(3)) == 8
    traced = double.subgraphs
    assert int(double(7)) == 14
    assert double.subgraphs == traced


def test_a_failed_trace_is_no_obstacle():
    scale = []

    @rtf.subgraph
    def f(n):
        if n < 1:
            return scale[0]
        return f(n - 1) * 2

    with pytest.raises(Exception, match="list index out of range"):
        f(2)
    scale.append(tf.constant(3))
    assert int(f(2)) == 12


def test_threads_may_trace_the_same_functions():
    gate = threading.Barrier(4)

    @rtf.subgraph
    def is_even(n):
        if n < 1:
            return True
        return is_odd(n - 1)

    @rtf.subgraph
    def is_odd(n):
        if n < 1:
            return False
        return is_even(n - 1)

    def work(i):
        gate.wait()
        return bool((is_even, is_odd)[i % 2](i))

    assert run_in_threads(work, 4) == [True, True, True, True]


# --- What can be looked at


def test_a_subgraph_is_had_without_a_call():
    @rtf.subgraph
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    subgraph = fib.subgraph_for(INT)
    assert repr(subgraph) == "<SubGraph 'fib' (int32[]) -> int32[]>"
    assert rtf.explain(subgraph).executor == "batched"
    assert int(fib(10)) == int(subgraph(10)) == 55
    assert fib.subgraphs == [subgraph]


def test_a_decorated_function_looks_like_the_function():
    @rtf.subgraph
    def fib(n):
        """Computes a Fibonacci number."""
        return n

    assert (fib.__name__, fib.__doc__) == ("fib", "Computes a Fibonacci number.")
    assert repr(fib) == "<rtf.subgraph 'fib'>"


# --- Choices


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_the_decorator_takes_an_executor(executor):
    @rtf.subgraph(executor=executor)
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    assert int(fib(10)) == 55
    assert rtf.explain(fib.subgraphs[0]).executor == executor


@pytest.mark.every_executor
def test_the_decorator_takes_options():
    @rtf.subgraph(options=rtf.Options(max_depth=5))
    def f(n):
        if n < 1:
            return 0
        return f(n - 1)

    assert int(f(4)) == 0
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_depth=5"):
        f(6)
