"""A root call works wherever TensorFlow runs a function, and a call in any branch.

What other tests show for one call, here stands in pipelines, loops,
branches, other bodies, Python functions, and in several of them at once.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib, one_unless

pytestmark = pytest.mark.every_executor

FIB = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55]
W = 2.0


def define_power(w):
    """Returns a SubGraph from n to w^n, which is differentiable by w."""
    with rtf.SubGraph("power") as power:
        n = power.input(tf.int32)
        power.output(tf.cond(n < 1, lambda: 1.0, lambda: w * power(n - 1)))
    return power


def slope(n):
    """Returns the derivative of W^n by W."""
    return n * W ** (n - 1) if n else 0.0


@pytest.fixture
def fib():
    return define_fib()


@pytest.fixture
def w():
    return tf.Variable(W)


@pytest.fixture
def power(w):
    return define_power(w)


def numbers(n):
    return tf.data.Dataset.range(n).map(lambda k: tf.cast(k, tf.int32))


# --- Input pipelines


def test_a_parallel_map_of_a_dataset_keeps_the_order(fib):
    mapped = numbers(10).repeat(10).map(fib, num_parallel_calls=8, deterministic=True)
    assert [int(n) for n in mapped] == 10 * FIB[:10]


def test_a_parallel_map_without_an_order_loses_nothing(fib):
    mapped = numbers(10).repeat(10).map(fib, num_parallel_calls=8, deterministic=False)
    assert sorted(int(n) for n in mapped) == sorted(10 * FIB[:10])


def test_a_dataset_maps_batches_row_by_row(fib):
    mapped = numbers(10).batch(4).map(fib.map, num_parallel_calls=2)
    assert [n.tolist() for n in mapped.as_numpy_iterator()] == [
        FIB[:4],
        FIB[4:8],
        FIB[8:10],
    ]


def test_a_dataset_filters_and_reduces_by_a_subgraph(fib):
    small = numbers(10).filter(lambda n: fib(n) < 10)
    assert int(small.reduce(0, lambda total, n: total + fib(n))) == sum(FIB[:7])


def test_datasets_that_interleave_call_a_subgraph(fib):
    def pair(n):
        return tf.data.Dataset.from_tensors(fib(n)).repeat(2)

    mixed = numbers(6).interleave(pair, cycle_length=3, num_parallel_calls=3)
    assert sorted(int(n) for n in mixed) == sorted(2 * FIB[:6])


def test_a_generator_in_a_dataset_calls_a_subgraph(fib):
    def generate():
        for n in range(8):
            yield fib(n)

    spec = tf.TensorSpec([], tf.int32)
    generated = tf.data.Dataset.from_generator(generate, output_signature=spec)
    assert [int(n) for n in generated.map(fib)] == [FIB[n] for n in FIB[:7]] + [233]


def test_a_dataset_computes_gradients(power, w):
    def differentiate(n):
        with tf.GradientTape() as tape:
            y = power(n)
        return tape.gradient(y, w)

    mapped = numbers(6).map(differentiate, num_parallel_calls=4)
    assert [float(g) for g in mapped] == [slope(n) for n in range(6)]


def test_a_function_iterates_over_a_dataset_that_calls_a_subgraph(fib):
    mapped = numbers(8).map(fib, num_parallel_calls=4)

    @tf.function
    def total():
        found = 0
        for n in mapped:
            found += fib(n)
        return found

    assert int(total()) == sum(int(fib(n)) for n in FIB[:8])


def test_an_iterator_that_is_dropped_midway_leaves_no_harm(fib):
    endless = numbers(16).repeat().map(fib, num_parallel_calls=8).prefetch(4)
    for _ in range(5):
        iterator = iter(endless)
        assert [int(next(iterator)) for _ in range(3)] == FIB[:3]
        del iterator
    assert int(fib(10)) == FIB[10]


# --- Loops and branches around a root call


@pytest.mark.parametrize("parallel", [1, 8])
def test_map_fn_calls_a_subgraph(fib, parallel):
    run = tf.function(lambda n: tf.map_fn(fib, n, parallel_iterations=parallel))
    assert run(tf.range(10)).numpy().tolist() == FIB[:10]


def test_map_fn_has_the_gradient_of_its_calls(power, w):
    @tf.function
    def differentiate(n):
        spec = tf.TensorSpec([], tf.float32)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.map_fn(power, n, fn_output_signature=spec))
        return tape.gradient(y, w)

    assert float(differentiate(tf.range(5))) == sum(slope(n) for n in range(5))


def test_scan_calls_a_subgraph(fib):
    run = tf.function(lambda n: tf.scan(lambda total, k: total + fib(k), n))
    assert run(tf.range(9)).numpy().tolist() == np.cumsum(FIB[:9]).tolist()


def test_the_condition_of_a_loop_is_a_root_call(fib):
    @tf.function
    def first_above(limit):
        n = 0
        while fib(n) <= limit:
            n += 1
        return n

    assert int(first_above(tf.constant(30))) == 9


@pytest.mark.parametrize("branch", range(3))
def test_each_branch_makes_another_root_call(fib, power, branch):
    @tf.function
    def choose(k):
        branches = [lambda: fib(8), lambda: tf.cast(power(3), tf.int32), inner]
        return tf.switch_case(k, branches)

    def inner():
        return tf.reduce_sum(fib.map([5, 6]))

    assert int(choose(tf.constant(branch))) == [21, 8, 13][branch]


def test_loops_and_branches_nest_around_a_root_call(power, w):
    """Sums w^k over the odd numbers k below n, and takes the gradient."""

    @tf.function
    def differentiate(n):
        def step(k, total):
            odd = tf.equal(k % 2, 1)
            return k + 1, total + tf.cond(odd, lambda: power(k), lambda: 0.0)

        with tf.GradientTape() as tape:
            _, total = tf.while_loop(lambda k, _: k < n, step, (0, 0.0))
        return tape.gradient(total, w)

    assert float(differentiate(tf.constant(6))) == slope(1) + slope(3) + slope(5)


# --- Bodies of other SubGraphs


def test_each_branch_of_a_body_calls_another_subgraph(fib):
    with rtf.SubGraph("double") as double:
        double.output(2 * double.input(tf.int32))
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        branches = [lambda: fib(n + 5), lambda: double(f(n - 1)), lambda: f(fib(n - 2))]
        f.output(tf.switch_case(tf.minimum(n, 2), branches))
    assert [int(f(n)) for n in range(5)] == [5, 10, 5, 10, 10]


def test_a_loop_in_a_branch_of_a_body_calls_another_subgraph(w):
    power = define_power(w)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def powers():
            step = lambda k, total: (k + 1, total + power(k))  # noqa: E731
            return tf.while_loop(lambda k, _: k < n, step, (0, f(n - 1)))[1]

        f.output(tf.cond(n < 1, lambda: 0.0, powers))

    with tf.GradientTape() as tape:
        y = f(4)
    sums = [sum(slope(k) for k in range(m)) for m in range(1, 5)]
    assert float(tape.gradient(y, w)) == sum(sums)


def test_a_function_with_a_root_call_is_called_in_a_branch_of_a_body(fib):
    @tf.function
    def through(n):
        return fib(n) + 1

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: through(n), lambda: through(n) + f(n - 1)))
    assert int(f(5)) == sum(FIB[:6]) + 6


@pytest.mark.falls_back("an effect")
def test_a_concrete_function_with_a_root_call_is_called_in_a_body(fib):
    spec = tf.TensorSpec([], tf.int32)
    through = tf.function(lambda n: fib(n)).get_concrete_function(spec)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: through(n), lambda: through(n) + f(n - 1)))
    assert int(f(5)) == sum(FIB[:6])


def test_a_branch_of_a_body_defines_and_calls_a_subgraph():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def more():
            with rtf.SubGraph("add") as add:
                m = add.input(tf.int32)
                add.output(tf.cond(m < 1, lambda: n, lambda: add(m - 1) + 1))
            return add(n) + f(n - 1)

        f.output(tf.cond(n < 1, lambda: 0, more))
    assert int(f(5)) == 2 * (5 + 4 + 3 + 2 + 1)


# --- Python functions


def test_a_py_function_makes_a_root_call(fib):
    run = tf.function(lambda n: tf.py_function(fib, [n], tf.int32))
    assert int(run(tf.constant(10))) == FIB[10]


def test_a_py_function_with_a_root_call_has_a_gradient():
    with rtf.SubGraph("power") as power:
        n, x = power.input(tf.int32), power.input(tf.float32)
        power.output(tf.cond(n < 1, lambda: 1.0, lambda: x * power(n - 1, x)))

    @tf.function
    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda x: power(3, x), [x], tf.float32)
        return tape.gradient(y, x)

    assert float(differentiate(tf.constant(W))) == slope(3)


@pytest.mark.falls_back("a Python function")
def test_a_py_function_in_a_chain_of_bodies_makes_root_calls(fib):
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        own = tf.ensure_shape(tf.py_function(fib, [n], tf.int32), [])
        f.output(tf.cond(n < 1, lambda: own, lambda: own + f(n - 1)))
    assert int(f(8)) == sum(FIB[:9])


def test_a_custom_gradient_makes_a_root_call(fib):
    @tf.custom_gradient
    def identity(x):
        return x, lambda upstream: upstream * tf.cast(fib(10), tf.float32)

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = identity(x)
    assert float(tape.gradient(y, x)) == FIB[10]


# --- Errors


def define_walk():
    """Returns a SubGraph that counts down and fails below zero, by steps of two."""
    with rtf.SubGraph("walk") as walk:
        n = walk.input(tf.int32)
        one = one_unless(n < 0)
        walk.output(one * tf.cond(tf.equal(n, 0), lambda: n, lambda: walk(n - 2)))
    return walk


PLACES = {
    "dataset": lambda f: list(numbers(4).map(f, num_parallel_calls=2)),
    "map_fn": lambda f: tf.function(lambda n: tf.map_fn(f, n))(tf.range(4)),
    "py_function": lambda f: tf.py_function(f, [1], tf.int32),
    "branch": tf.function(lambda f: tf.cond(f(2) < 1, lambda: f(1), lambda: 0)),
}


@pytest.mark.parametrize("call", PLACES.values(), ids=PLACES)
def test_an_error_in_a_strange_place_names_the_path(call):
    with pytest.raises(tf.errors.OpError, match="failed at walk → call#0"):
        call(define_walk())


@pytest.mark.traces_only
def test_a_call_in_a_function_of_a_dataset_in_a_body_is_refused(fib):
    with rtf.SubGraph("total") as total:
        n = total.input(tf.int64)
        numbers = tf.data.Dataset.range(n).map(lambda k: fib(tf.cast(k, tf.int32)))
        total.output(numbers.reduce(0, lambda a, b: a + b))
    with pytest.raises(rtf.SubGraphError, match="function that it hands to MapDataset"):
        total(tf.constant(4, tf.int64))


@pytest.mark.parametrize("branch", [False, True])
@pytest.mark.falls_back("an effect")
def test_an_effect_of_a_root_call_in_a_body_comes_before_what_follows(branch):
    counter = tf.Variable(0)
    with rtf.SubGraph("count") as count:
        n = count.input(tf.int32)
        counter.assign_add(n)
        count.output(n)
    counted = tf.function(count).get_concrete_function(tf.TensorSpec([], tf.int32))

    def count_and_read(n):
        counted(n)
        return counter.read_value()

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        if branch:
            f.output(tf.cond(n > 0, lambda: count_and_read(n), lambda: n))
        else:
            f.output(count_and_read(n))
    assert [int(f(3)) for _ in range(20)] == [3 * i for i in range(1, 21)]


@pytest.mark.traces_only
def test_a_definition_that_fails_in_a_map_leaves_tensorflow_as_it_was():
    with (
        pytest.raises(rtf.SubGraphError, match="is called before"),
        rtf.SubGraph("f") as f,
    ):
        f.output(tf.map_fn(f, tf.range(f.input(tf.int32))))
    # TensorFlow's map changes where variables are cached, which this refuses.
    assert tf.recompute_grad(lambda x: x**2)(tf.constant(3.0)).numpy() == 9.0
