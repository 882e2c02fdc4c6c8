"""What is wrong is said where it is written, or with the path of the invocation."""

import re
import threading
import time

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation  # noqa: TID251

import recursive_tf as rtf


def define_fib(**choices):
    with rtf.SubGraph("fib", **choices) as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    return fib


def define_pair():
    """Returns a SubGraph with two inputs that calls nobody."""
    with rtf.SubGraph("pair") as pair:
        n, x = pair.input(tf.int32), pair.input(tf.float32, [3])
        pair.output(n, x)
    return pair


def define_endless(**limits):
    with rtf.SubGraph("endless", options=rtf.Options(**limits)) as endless:
        n = endless.input(tf.int32)
        endless.output(tf.cond(n < 0, lambda: n, lambda: endless(n + 1)))
    return endless


def define_walk(fails_at, name="walk"):
    """Returns a SubGraph that visits a binary tree of 15 nodes; one of them fails.

    The children of node i are 2i and 2i + 1.
    """
    with rtf.SubGraph(name) as walk:
        i = walk.input(tf.int32)
        tf.debugging.assert_none_equal(i, fails_at, message="a bad node")
        both = lambda: walk(2 * i) + walk(2 * i + 1)  # noqa: E731
        walk.output(tf.cond(i > 7, lambda: 1, both))
    return walk


def message_of(call, error=rtf.SubGraphError):
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


def failure_of(call, error=tf.errors.InvalidArgumentError):
    """Returns what a failing root call says about the invocation."""
    (line,) = re.findall(r"SubGraph '.*", message_of(call, error))
    return line


# --- Arguments


@pytest.mark.parametrize("args", [(), (1,), (1, [1.0, 2.0, 3.0], 2)], ids=len)
def test_a_wrong_number_of_arguments_is_refused(args):
    message = message_of(lambda: define_pair()(*args))
    takes = "SubGraph 'pair' takes 2 input(s) (int32[], float32[3])"
    assert f"{takes}, but was called with {len(args)}." in message


def test_a_wrong_dtype_is_refused():
    message = message_of(lambda: define_fib()(tf.constant(1.0)))
    assert "Input 0 of SubGraph 'fib' is int32[], but the argument is not" in message
    assert "Cast it before the call." in message


def test_a_python_float_is_no_integer():
    assert "Input 0 of SubGraph 'fib'" in message_of(lambda: define_fib()(1.5))


def test_a_wrong_shape_is_refused():
    message = message_of(lambda: define_pair()(1, [1.0, 2.0]))
    expected = (
        "Input 1 of SubGraph 'pair' is float32[3], but the argument is float32[2]."
    )
    assert expected in message


def test_a_wrong_structure_is_refused():
    with rtf.SubGraph("f") as f:
        f.output(f.input({"n": tf.int32})["n"])
    message = message_of(lambda: f({"m": 1}))
    assert "Input 0 of SubGraph 'f' has the structure {n: int32[]}" in message


def test_wrong_arguments_of_a_call_in_a_body_are_refused():
    def define():
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.output(tf.cond(n < 1, lambda: 0, lambda: f(n - 1, n)))

    assert "'f' takes 1 input(s) (int32[]), but was called with 2." in message_of(
        define
    )


def test_wrong_arguments_in_a_function_are_refused():
    fib = define_fib()

    @tf.function
    def run():
        return fib(1, 2)

    message = message_of(run)
    assert "SubGraph 'fib' takes 1 input(s) (int32[]), but was called with 2" in message


def define_sizes():
    """Returns a SubGraph whose body is built on its input having three elements."""
    with rtf.SubGraph("three") as three:
        three.output(tf.shape(three.input(tf.float32, [3])))
    return three


def test_a_wrong_shape_that_only_shows_when_it_runs_is_an_error():
    three = define_sizes()
    run = tf.function(lambda x: three(x), input_signature=[tf.TensorSpec([None])])
    assert run(tf.ones([3])).numpy().tolist() == [3]
    message = message_of(lambda: run(tf.ones([4])), tf.errors.InvalidArgumentError)
    assert "[4] is not compatible with expected shape [3]" in message


def test_a_wrong_shape_of_a_row_that_only_shows_when_it_runs_is_an_error():
    three = define_sizes()
    run = tf.function(lambda x: three.map(x), input_signature=[tf.TensorSpec(None)])
    assert run(tf.ones([2, 3])).numpy().tolist() == [[3], [3]]
    message = message_of(lambda: run(tf.ones([2, 4])), tf.errors.InvalidArgumentError)
    assert "[2,4] is not compatible with expected shape [?,3]" in message


@pytest.mark.parametrize("is_defined", [True, False])
def test_a_wrong_shape_in_a_body_that_only_shows_when_it_runs_is_an_error(is_defined):
    three = define_sizes() if is_defined else rtf.SubGraph("three", **RETURNS_SHAPE)
    with rtf.SubGraph("f") as f:
        f.output(three(f.input(tf.float32, [None])))
    if not is_defined:
        with three:
            three.output(tf.shape(three.input(tf.float32, [3])))
    assert f(tf.ones([3])).numpy().tolist() == [3]
    message = failure_of(lambda: f(tf.ones([4])))
    assert "[4] is not compatible with expected shape [3]" in message


RETURNS_SHAPE = {"output_signature": tf.TensorSpec([1], tf.int32)}


@pytest.mark.parametrize("args", [(), (1, 2), (1.5,), ([1, 2],)], ids=str)
def test_a_call_of_a_later_definition_is_checked_when_it_is_run(args):
    later = rtf.SubGraph("later", output_signature=tf.int32)
    with rtf.SubGraph("f") as f:
        f.input(tf.int32)
        f.output(later(*args))
    with later:
        later.output(later.input(tf.int32))
    message = message_of(lambda: f(1))
    assert (
        "SubGraph 'later' takes (int32[]), but a call before its definition" in message
    )
    assert "test_errors.py:" in message


def test_an_input_declared_after_a_call_is_found_out():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        below = tf.cond(n < 1, lambda: 0, lambda: f(n - 1))
        f.output(below + f.input(tf.int32))
    assert "takes (int32[], int32[]), but" in message_of(lambda: f(1, 2))


# --- Definitions


def test_a_subgraph_without_output_is_refused():
    def define():
        with rtf.SubGraph("f") as f:
            f.input(tf.int32)

    message = message_of(define)
    assert "SubGraph 'f' has no output. Call `f.output(...)` at the end" in message


def test_an_error_in_a_definition_is_the_users_own():
    def define():
        with rtf.SubGraph("f"):
            raise KeyError("mine")

    assert message_of(define, KeyError) == "'mine'"


def test_a_second_output_is_refused():
    def define():
        with rtf.SubGraph("f") as f:
            f.output(1)
            f.output(2)

    message = message_of(define)
    assert "SubGraph 'f' has two outputs. Call `.output(a, b)` once" in message


def test_an_output_in_a_branch_is_refused():
    def define():
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            tf.cond(n < 1, lambda: f.output(n), lambda: f.output(n))

    assert "`.output` of SubGraph 'f' is called inside of a branch" in message_of(
        define
    )


def test_a_second_definition_is_refused():
    fib = define_fib()
    message = message_of(fib.__enter__)
    assert "SubGraph 'fib' is defined twice. Make a second SubGraph." in message


def test_a_definition_within_itself_is_refused():
    def define():
        with rtf.SubGraph("f") as f, f:
            pass

    assert "SubGraph 'f' is defined twice" in message_of(define)


def test_a_call_without_a_definition_is_refused():
    message = message_of(lambda: rtf.SubGraph("f")(1))
    assert "SubGraph 'f' is called, but has no body. Define it in `with f:`" in message


def test_a_callee_without_a_definition_is_refused():
    later = rtf.SubGraph("later", output_signature=tf.int32)
    with rtf.SubGraph("f") as f:
        f.output(later(f.input(tf.int32)))
    assert "SubGraph 'later' is called, but has no body" in message_of(lambda: f(1))


def test_a_root_call_before_the_definition_may_be_repeated_after_it():
    later = rtf.SubGraph("later", output_signature=tf.int32)
    with rtf.SubGraph("f") as f:
        f.output(later(f.input(tf.int32)))
    message_of(lambda: f(1))
    with later:
        later.output(2 * later.input(tf.int32))
    assert int(f(4)) == 8


METHODS = {
    "input": lambda f: f.input(tf.int32),
    "output": lambda f: f.output(1),
    "push": lambda f: f.push("n", 1, index=0, size=1),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_definition_goes_on_only_in_its_block(method):
    message = message_of(lambda: METHODS[method](define_fib()))
    assert (
        f"`.{method}` of SubGraph 'fib' is called outside of its definition" in message
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_definition_does_not_go_on_in_the_body_of_another(method):
    def define():
        with rtf.SubGraph("f") as f, rtf.SubGraph("g"):
            METHODS[method](f)

    assert f"`.{method}` of SubGraph 'f' is called outside" in message_of(define)


# --- Tensors where they do not exist


def test_a_tensor_of_one_body_is_not_used_in_another():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32, name="node")
        f.output(n)

    def define():
        with rtf.SubGraph("g") as g:
            g.output(n + 1)

    message = message_of(define)
    assert "node:0 belongs to the body of SubGraph 'f'" in message
    assert "cannot be used in the body of SubGraph 'g'" in message
    assert "Return it from 'f', or pass it as an input." in message


def test_a_tensor_of_a_body_is_not_used_outside():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32, name="node")
        f.output(n)
    use = tf.function(lambda: n + 1)
    assert "out of scope" in message_of(use, TypeError)


def test_a_tensor_of_a_branch_is_not_used_outside_of_it():
    leaked = []

    def leak(n):
        leaked.append(n + 1)
        return n

    def define():
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            m = tf.cond(n < 1, lambda: leak(n), lambda: n)
            f.output(m + leaked[0])

    assert "out of scope" in message_of(define, ValueError)


def test_a_subgraph_with_tensors_of_a_function_is_not_called_outside():
    made = []

    @tf.function
    def make(x):
        with rtf.SubGraph("f") as f:
            f.output(x + f.input(tf.float32))
        made.append(f)
        return f(1.0)

    assert float(make(tf.constant(2.0))) == 3
    message = message_of(lambda: made[0](1.0))
    assert "SubGraph 'f' captured x:0 of the function 'make'" in message
    assert "is called eagerly, where that tensor does not exist" in message
    assert "Call it inside that function, or make the tensor an input." in message


def test_a_subgraph_with_tensors_of_a_function_is_not_called_in_another():
    made = []

    @tf.function
    def make(x):
        with rtf.SubGraph("f") as f:
            f.output(x + f.input(tf.float32))
        made.append(f)
        return x

    make(tf.constant(2.0))
    other = tf.function(lambda: made[0](1.0))
    assert "SubGraph 'f' captured x:0 of the function" in message_of(other)


def test_a_subgraph_of_a_body_is_not_called_outside_of_it():
    made = []
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32, name="node")
        with rtf.SubGraph("inner") as inner:
            inner.output(n + inner.input(tf.int32))
        made.append(inner)
        outer.output(inner(1))
    message = message_of(lambda: made[0](1))
    assert "'inner', or one that it calls, uses node:0 of the body of" in message
    assert "SubGraph 'outer', so it can only be called inside of that body" in message


def test_a_subgraph_of_a_branch_is_not_called_beside_it():
    made = []

    def branch(n):
        local = n + 1
        with rtf.SubGraph("inner") as inner:
            inner.output(local + inner.input(tf.int32))
        made.append(inner)
        return inner(1)

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        m = tf.cond(n < 1, lambda: branch(n), lambda: n)
        f.output(m + made[0](2))
    message = message_of(lambda: f(1))
    assert "is called where that tensor does not exist" in message
    assert "Call it in the branch that defines it." in message


# --- Maps


def test_a_map_in_a_body_is_refused():
    fib = define_fib()

    def define():
        with rtf.SubGraph("f") as f:
            f.output(fib.map(f.input(tf.int32, [3])))

    message = message_of(define)
    assert "`.map` of SubGraph 'fib' inside of the body of 'f' is not supp" in message


def test_a_map_without_inputs_is_refused():
    with rtf.SubGraph("f") as f:
        f.output(1)
    assert "'f', which has no input, has no rows" in message_of(f.map)


def test_a_map_of_an_argument_without_rows_is_refused():
    message = message_of(lambda: define_fib().map(3))
    assert (
        "Input 0 of SubGraph 'fib' is int32[?], but the argument is int32[]." in message
    )


@pytest.mark.parametrize("counts", [(2, 3), (0, 1), (1, 0)], ids=str)
def test_a_map_of_different_numbers_of_rows_is_refused(counts):
    def call():
        return define_pair().map(
            tf.zeros(counts[0], tf.int32), tf.zeros([counts[1], 3])
        )

    message = message_of(call, tf.errors.InvalidArgumentError)
    assert ".map takes arguments with the same first dimension" in message
    assert f"[{counts[0]}] and [{counts[1]},3]" in message


def test_rows_of_different_shapes_are_not_stacked():
    with rtf.SubGraph("count") as count:
        count.output(tf.range(count.input(tf.int32)))
    message = message_of(lambda: count.map([2, 3]), tf.errors.InvalidArgumentError)
    assert (
        "output 0 has the shape [2] in the first row of the map and [3] in" in message
    )


def test_a_map_over_no_rows_needs_a_static_shape():
    with rtf.SubGraph("count") as count:
        count.output(tf.range(count.input(tf.int32)))
    call = lambda: count.map(tf.zeros([0], tf.int32))  # noqa: E731
    message = message_of(call, tf.errors.InvalidArgumentError)
    assert "output 0 of a map over no rows has the shape [?] a row" in message


# --- Pushes


def define_push(index, value=None, size=3):
    """Returns a SubGraph that pushes what functions of its input say."""
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n if value is None else value(n), index=index(n), size=size)
        f.output(n)
    return f


@pytest.mark.parametrize("n", [3, -1])
def test_a_push_to_a_row_that_does_not_exist_is_an_error(n):
    f = define_push(index=lambda n: n)
    message = failure_of(lambda: f(n), tf.errors.OutOfRangeError)
    assert (
        f"SubGraph 'f' failed at f: push 'n' to row {n} is outside of [0, 3)" in message
    )


def test_a_second_push_to_a_row_is_an_error():
    f = define_push(index=lambda n: n // 2)
    message = failure_of(lambda: f.map([0, 1]))
    assert re.search(r"f\[row [01]\]: push 'n' to row 0 happened twice", message)


def test_pushes_of_different_shapes_are_an_error():
    f = define_push(index=lambda n: n, value=tf.range)
    message = failure_of(lambda: f.map([1, 2]))
    assert "push 'n' got a value of shape [" in message
    assert "All values of one name need one shape." in message


def test_pushes_of_different_dtypes_are_an_error():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=2)
        f.push("n", tf.cast(n, tf.float32), index=1, size=2)
        f.output(n)
    message = message_of(lambda: f(1))
    assert "push 'n' gets float32[] at" in message
    assert "and int32[] elsewhere" in message


def test_sizes_of_one_table_that_differ_only_at_run_time_are_an_error():
    size = tf.TensorSpec([], tf.int32)

    @tf.function(input_signature=[size, size])
    def push(one, other):
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.push("n", n, index=0, size=one)
            f.push("n", n, index=1, size=other)
            f.output(n)
        return f(7, with_pushed=True)[1]["n"]

    assert push(2, 2).numpy().tolist() == [7, 7]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not the same at all"):
        push(2, 3)


def test_pushes_to_one_table_with_different_sizes_are_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=2)
        f.push("n", n, index=1, size=3)
        f.output(n)
    message = message_of(lambda: f(1))
    assert "push 'n' has size=2 in one place and size=3 in another" in message


@pytest.mark.parametrize(
    "place", [{"index": 1.5, "size": 2}, {"index": 1, "size": 2.5}]
)
def test_a_push_to_a_fraction_is_refused(place):
    def define():
        with rtf.SubGraph("f") as f:
            f.push("n", f.input(tf.int32), **place)

    assert "of push 'n' is float32: it must be an integer" in message_of(define)


def test_a_size_that_depends_on_an_input_is_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=n + 1)
        f.output(n)
    message = message_of(lambda: f(1))
    assert "size= of push 'n' depends on an input of the body" in message
    assert "compute it outside of the SubGraph" in message


def test_a_size_that_depends_on_another_body_is_refused():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32, name="node")
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.push("k", k, index=k, size=n)
            inner.output(k)
        outer.output(inner(n))
    message = message_of(lambda: outer(1))
    assert "node:0, which another SubGraph's body computes" in message


def test_a_size_that_depends_on_an_effect_is_refused():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=tf.random.uniform([], 1, 5, tf.int32))
        f.output(n)
    assert "which has an effect" in message_of(lambda: f(1))


@pytest.mark.parametrize("size", [-1, [1, 2]], ids=str)
def test_a_size_that_is_no_size_is_an_error(size):
    f = define_push(index=lambda n: n, size=tf.constant(size))
    message = message_of(lambda: f(0), tf.errors.InvalidArgumentError)
    assert "size= of push 'n' must be a scalar that is not negative" in message


def test_a_push_to_several_rows_is_an_error():
    with rtf.SubGraph("f") as f:
        rows = f.input(tf.int32, None)
        f.push("n", 1, index=rows, size=3)
        f.output(rows)
    assert "failed at f: index= of a push must be a scalar" in failure_of(
        lambda: f([0, 1])
    )


def test_a_table_of_unknown_shape_that_nobody_pushed_is_an_error():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def push():
            f.push("n", tf.range(n), index=0, size=2)
            return n

        f.output(tf.cond(n > 0, push, lambda: n))
    message = message_of(lambda: f(0), tf.errors.InvalidArgumentError)
    assert "no invocation pushed 'n', and its shape [?] is not known" in message


def test_with_pushed_in_a_body_is_refused():
    fib = define_fib()

    def define():
        with rtf.SubGraph("f") as f:
            f.output(fib(f.input(tf.int32), with_pushed=True))

    message = message_of(define)
    assert (
        "with_pushed=True in a call to SubGraph 'fib' inside of the body of" in message
    )
    assert "only a root call gathers what all its invocations push" in message


# --- Executors and options


def test_an_unknown_executor_is_refused_with_the_known_ones():
    message = message_of(lambda: rtf.SubGraph(executor="fast"), ValueError)
    assert "executor='fast': choose one of ('auto', 'dataflow')" in message


def call_from_another(callee, **choices):
    with rtf.SubGraph("caller", **choices) as caller:
        caller.output(callee(caller.input(tf.int32)))
    return caller(5)


@pytest.mark.parametrize(
    "choices",
    [{"options": rtf.Options(max_depth=7)}, {"executor": "dataflow"}],
    ids=lambda choices: next(iter(choices)),
)
def test_a_callee_with_choices_of_its_own_is_refused(choices):
    message = message_of(lambda: call_from_another(define_fib(**choices)))
    assert "SubGraph 'fib' has an executor or options of its own" in message
    assert "is called from 'caller', whose hold for the whole program" in message


@pytest.mark.parametrize(
    "choices",
    [{"options": rtf.Options(max_depth=7)}, {"executor": "dataflow"}],
    ids=lambda choices: next(iter(choices)),
)
def test_a_callee_with_the_choices_of_its_caller_is_fine(choices):
    assert int(call_from_another(define_fib(**choices), **choices)) == 5


# --- Limits


def test_a_recursion_without_a_base_case_stops_at_max_depth():
    message = failure_of(
        lambda: define_endless(max_depth=50)(0), tf.errors.ResourceExhaustedError
    )
    assert "SubGraph 'endless' failed at endless → call#0" in message
    assert "the recursion reached max_depth=50" in message
    assert "pass options=rtf.Options(max_depth=...) to the SubGraph" in message


def test_a_long_path_is_shortened_in_the_middle():
    message = failure_of(
        lambda: define_endless(max_depth=1000)(0), tf.errors.ResourceExhaustedError
    )
    assert message.count("call#0") == 11
    assert "→ … (989 calls) … →" in message


@pytest.mark.parametrize(("max_depth", "n"), [(1, 1), (5, 5)])
def test_a_recursion_of_exactly_max_depth_is_fine(max_depth, n):
    assert int(define_fib(options=rtf.Options(max_depth=max_depth))(n)) == n


def test_max_activations_bounds_the_calls_alive_at_once():
    message = failure_of(
        lambda: define_endless(max_activations=100)(0), tf.errors.ResourceExhaustedError
    )
    assert "the root call reached max_activations=100" in message
    assert "pass options=rtf.Options(max_activations=...)" in message


def test_max_activations_counts_rows_of_a_map():
    fib = define_fib(options=rtf.Options(max_activations=3))
    message_of(lambda: fib.map([0] * 50 + [9]), tf.errors.ResourceExhaustedError)


def test_calls_that_ended_do_not_count_as_activations():
    with rtf.SubGraph("f", options=rtf.Options(max_activations=2)) as f:
        n = f.input(tf.int32)
        step = lambda k: (k + 1 + f(0),)  # noqa: E731
        loop = lambda: tf.while_loop(lambda k: k < n, step, (0,))[0]  # noqa: E731
        f.output(tf.cond(n < 1, lambda: n, loop))
    assert int(f(50)) == 50


def test_a_call_after_a_limit_was_reached_works():
    fib = define_fib(options=rtf.Options(max_depth=5))
    message_of(lambda: fib(50), tf.errors.ResourceExhaustedError)
    assert int(fib(5)) == 5


# --- Failing invocations


@pytest.mark.parametrize(
    ("node", "path"),
    [
        (1, "walk"),
        (2, "walk → call#0"),
        (6, "walk → call#1 → call#0"),
        (11, "walk → call#0 → call#1 → call#1"),
    ],
)
def test_an_error_names_the_subgraph_and_the_path(node, path):
    line = failure_of(lambda: define_walk(fails_at=node)(1))
    assert line.startswith(f"SubGraph 'walk' failed at {path}: ")


def test_an_error_carries_the_message_of_the_op():
    assert "a bad node" in message_of(
        lambda: define_walk(fails_at=6)(1), tf.errors.InvalidArgumentError
    )


def test_an_error_is_reported_once():
    message = message_of(
        lambda: define_walk(fails_at=6)(1), tf.errors.InvalidArgumentError
    )
    assert message.count("failed at") == 1


def test_many_errors_at_once_are_one():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        tf.debugging.assert_greater(n, 0, message="a leaf")
        f.output(tf.cond(n < 1, lambda: n, lambda: f(n - 1) + f(n - 1) + f(n - 1)))
    assert re.search(r"f( → call#[012]){4}: ", failure_of(lambda: f(4)))


def test_an_error_in_a_map_names_the_row():
    line = failure_of(lambda: define_walk(fails_at=6).map([4, 5, 3]))
    assert "SubGraph 'walk' failed at walk[row 2] → call#0: " in line


def test_an_error_names_the_subgraphs_on_the_path():
    walk = define_walk(fails_at=6)
    with rtf.SubGraph("caller") as caller:
        caller.output(walk(caller.input(tf.int32)))
    line = failure_of(lambda: caller(1))
    path = "caller → call#0 (walk) → call#1 → call#0"
    assert f"SubGraph 'walk' failed at {path}: " in line


def test_an_error_in_a_function_names_the_path():
    walk = define_walk(fails_at=6)
    run = tf.function(lambda n: walk(n))
    assert "failed at walk → call#1 → call#0: " in failure_of(lambda: run(1))


def test_the_kind_of_an_error_is_the_ops_own():
    with rtf.SubGraph("f") as f:
        f.output(tf.gather([1, 2], f.input(tf.int32)))
    with rtf.SubGraph("g") as g:
        n = g.input(tf.int32)
        g.output(tf.numpy_function(lambda n: [].pop(), [n], tf.int32))
    message_of(lambda: f(7), tf.errors.InvalidArgumentError)
    assert "pop from empty list" in message_of(lambda: g(7), tf.errors.UnknownError)


def test_a_call_after_a_failure_works():
    walk = define_walk(fails_at=6)
    message_of(lambda: walk(1), tf.errors.InvalidArgumentError)
    assert int(walk(4)) == 2
    message_of(lambda: walk(1), tf.errors.InvalidArgumentError)
    assert int(walk(5)) == 2


def test_a_failure_stops_the_invocations_in_flight():
    started = []

    def start(n):
        started.append(n)
        time.sleep(0.001)
        return n

    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        m = tf.ensure_shape(tf.numpy_function(start, [n], tf.int32), [])
        tf.debugging.assert_none_equal(m, 15, message="a bad node")
        f.output(tf.cond(m < 1, lambda: m, lambda: f(m - 1) + f(m - 2)))
    message_of(lambda: f(20), tf.errors.InvalidArgumentError)
    at_the_end = len(started)
    time.sleep(0.1)
    assert len(started) == at_the_end < 1000


def test_a_failure_of_one_step_does_not_disturb_another():
    walk, results = define_walk(fails_at=6), []

    def run(root):
        for _ in range(20):
            try:
                results.append((root, int(walk(root))))
            except tf.errors.InvalidArgumentError:
                results.append((root, "failed"))

    threads = [threading.Thread(target=run, args=(root,)) for root in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results, key=str) == [(1, "failed")] * 20 + [(2, 4)] * 20


# --- Cancellation


class Cancelled(threading.Thread):
    """Runs a function in a step of its own, which is cancelled once it is going.

    Attributes:
        invocations: How many invocations there were.
        error: What the step raised.
    """

    def __init__(self, define):
        super().__init__(daemon=True)
        self.invocations = 0
        self.error = None
        self._going = threading.Event()
        self._run_step = tf.function(lambda: define(self._count))

    def run(self):
        manager = cancellation.CancellationManager()
        step = manager.get_cancelable_function(self._run_step.get_concrete_function())
        threading.Thread(target=self._cancel, args=(manager,)).start()
        try:
            step()
        except tf.errors.OpError as error:
            self.error = error

    def _cancel(self, manager):
        self._going.wait(20)
        manager.start_cancel()

    def _count(self, n):
        self.invocations += 1
        if self.invocations > 20:
            self._going.set()
        time.sleep(0.001)
        return n


def endless_chain(count):
    with rtf.SubGraph("f", options=rtf.Options(max_depth=None)) as f:
        n = f.input(tf.int32)
        m = tf.ensure_shape(tf.numpy_function(count, [n], tf.int32), [])
        f.output(tf.cond(m < 0, lambda: m, lambda: f(m + 1)))
    return f(0)


def endless_loop(count):
    with rtf.SubGraph("f") as f:
        f.output(tf.numpy_function(count, [f.input(tf.int32)], tf.int32))
    turn = lambda k: (tf.ensure_shape(f(k), []),)  # noqa: E731
    return tf.while_loop(lambda k: k > -1, turn, (0,))[0]


@pytest.mark.parametrize("define", [endless_chain, endless_loop])
def test_a_cancelled_step_stops(define):
    step = Cancelled(define)
    step.start()
    step.join(timeout=20)
    assert not step.is_alive()
    assert isinstance(step.error, tf.errors.CancelledError)


def test_a_cancelled_step_starts_no_more_invocations():
    step = Cancelled(endless_chain)
    step.start()
    step.join(timeout=20)
    at_the_end = step.invocations
    time.sleep(0.1)
    assert step.invocations == at_the_end


def test_a_call_after_a_cancelled_step_works():
    fib = define_fib()
    concrete = tf.function(lambda n: fib(n)).get_concrete_function(
        tf.TensorSpec([], tf.int32)
    )
    manager = cancellation.CancellationManager()
    manager.start_cancel()
    cancelled = manager.get_cancelable_function(concrete)
    with pytest.raises(tf.errors.CancelledError):
        cancelled(tf.constant(20))
    assert int(concrete(tf.constant(20))) == 6765


def test_results_after_errors_are_exact():
    walk = define_walk(fails_at=6)
    for _ in range(3):
        message_of(lambda: walk.map([1, 2, 3]), tf.errors.InvalidArgumentError)
    np.testing.assert_array_equal(walk.map([2, 4, 7, 8]), [4, 2, 2, 1])
