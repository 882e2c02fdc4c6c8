"""A decorated function computes what Python computes, statement by statement."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.decorator import branches, functions, loops
from tests.decorator.programs import BRANCHES, FUNCTIONS, LOOPS, plain

PROGRAMS = (*BRANCHES, *LOOPS, *FUNCTIONS)
IN_FUNCTIONS = (
    branches.define_early_returns,
    loops.define_while,
    functions.define_mutual,
    functions.define_subgraph_in_the_body_that_calls_out,
)


def name_of(define):
    return define.__name__.removeprefix("define_")


def values(function, numbers):
    return [int(function(n)) for n in numbers]


@pytest.mark.every_executor
@pytest.mark.falls_back(
    "its lists differ from call to call", at=loops.define_for_over_rows
)
@pytest.mark.parametrize("define", PROGRAMS, ids=name_of)
def test_a_decorated_function_computes_what_python_computes(define):
    expected = values(define(plain), range(9))
    assert values(define(rtf.subgraph), range(9)) == expected


@pytest.mark.parametrize("define", IN_FUNCTIONS, ids=name_of)
def test_a_function_around_it_changes_nothing(define):
    run = tf.function(define(rtf.subgraph))
    expected = values(define(plain), range(9))
    assert values(run, map(tf.constant, range(9))) == expected


@pytest.mark.parametrize("define", [*BRANCHES, *FUNCTIONS], ids=name_of)
def test_branches_and_early_returns_are_batched(define):
    decorated = define(rtf.subgraph(executor="batched"))
    assert values(decorated, [8]) == values(define(plain), [8])


@pytest.mark.every_executor
def test_conditionals_that_autograph_did_not_make_are_known_by_their_other_branch():
    @rtf.subgraph
    def size(n):
        more = lambda: size(n - 1)["total"] + 1  # noqa: E731
        return {"total": tf.cond(n < 1, lambda: 0, more)}

    assert int(size(5)["total"]) == 5


@pytest.mark.every_executor
def test_a_case_is_known_by_its_other_branches():
    @rtf.subgraph
    def collatz(n):
        small, even = (n <= 1, lambda: 0), (n % 2 < 1, lambda: 1 + collatz(n // 2))
        return tf.case([small, even], default=lambda: 1 + collatz(3 * n + 1))

    assert int(collatz(27)) == 111


@pytest.mark.every_executor
def test_a_switch_case_calls_where_an_annotation_says_what_is_returned():
    @rtf.subgraph
    def f(n) -> tf.int32:
        branches = [lambda: 0, lambda: 10 + f(n - 1), lambda: 100 * f(n - 1)]
        return tf.switch_case(n, branches, default=lambda: f(n - 1) + f(n - 2))

    assert values(f, range(4)) == [0, 10, 1000, 1010]


@pytest.mark.every_executor
def test_a_base_case_that_is_a_loop_of_no_turns_is_annotated():
    @rtf.subgraph
    def leaves(n) -> tf.TensorSpec([], tf.int32):
        total = tf.cast(n < 1, tf.int32)
        for k in tf.range(n):
            total += leaves(k)
        return total

    assert values(leaves, range(6)) == [1, 1, 2, 4, 8, 16]


@pytest.mark.every_executor
def test_map_fn_in_a_body_calls_for_each_element():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return 1
        return tf.reduce_sum(tf.map_fn(f, tf.range(n)))

    assert values(f, range(6)) == [1, 1, 2, 4, 8, 16]


@pytest.mark.every_executor
def test_a_function_in_the_body_computes():
    triple = tf.function(lambda n: 3 * n)

    @rtf.subgraph
    def f(n):
        if n < 1:
            return 1
        return triple(f(n - 1))

    assert int(f(3)) == 27


@pytest.mark.every_executor
def test_prints_and_assertions_in_a_body_happen(tmp_path):
    path = tmp_path / "printed"

    @rtf.subgraph
    def f(n):
        tf.print(n, output_stream=f"file://{path}")
        tf.debugging.assert_less(n, 7, message="too large")
        if n < 1:
            return 0
        return f(n - 1)

    f(3)
    assert sorted(path.read_text().split()) == ["0", "1", "2", "3"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        f(9)


@pytest.mark.every_executor
@pytest.mark.falls_back("an effect")
def test_a_variable_counts_every_invocation():
    counter = tf.Variable(0)

    @rtf.subgraph
    def count(depth):
        counter.assign_add(1)
        if depth < 1:
            return 1
        return count(depth - 1) + count(depth - 1)

    assert int(count(6)) == 64
    assert int(counter) == 127


@pytest.mark.every_executor
def test_a_decorated_function_and_a_subgraph_call_each_other():
    later = rtf.SubGraph("later", output_signature=tf.int32)

    @rtf.subgraph
    def f(n):
        if n < 1:
            return 0
        return later(n) + 1

    with later:
        n = later.input(tf.int32)
        later.output(2 * f(n - 1))
    assert values(f, range(4)) == [0, 1, 3, 7]
    assert values(later, [4]) == [2 * 7]


def test_autograph_may_be_left_out():
    @rtf.subgraph
    @tf.autograph.experimental.do_not_convert
    def fib(n):
        return tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2))

    assert int(fib(10)) == 55
