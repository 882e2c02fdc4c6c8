"""What is wrong with a decorated function or a call of it, and how to mend it."""

import functools

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of, message_of


@rtf.subgraph
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


# --- What is decorated


@pytest.mark.parametrize(
    "what", [3, tf.function(abs), functools.partial(abs), staticmethod(abs), abs]
)
def test_only_a_python_function_is_decorated(what):
    message = message_of(lambda: rtf.subgraph(what), TypeError)
    assert "rtf.subgraph decorates a Python function, but this is" in message
    assert "directly above `def`" in message


def test_an_executor_that_there_is_not_is_refused():
    decorate = lambda: rtf.subgraph(executor="fast")  # noqa: E731
    assert "choose one of ('auto', 'batched', 'dataflow')" in message_of(
        decorate, ValueError
    )


def test_a_parameter_that_a_call_takes_itself_is_refused():
    def f(n, with_pushed):
        return n

    message = message_of(lambda: rtf.subgraph(f))
    assert "SubGraph 'f' has a parameter 'with_pushed'" in message


def test_an_annotation_that_cannot_be_read_is_refused():
    def f(n: "tf.TensorSpec([size])"):  # noqa: F821
        return n

    message = message_of(lambda: rtf.subgraph(f))
    assert "annotation 'tf.TensorSpec([size])' of SubGraph 'f' cannot be re" in message
    assert "name 'size' is not defined" in message


# --- Arguments


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda f: f(), "missing a required argument: 'n'"),
        (lambda f: f(1), "missing a required argument: 'x'"),
        (lambda f: f(1, 2, 3), "too many positional arguments"),
        (lambda f: f(1, 2, y=3), "got an unexpected keyword argument 'y'"),
        (lambda f: f(1, n=2), "multiple values for argument 'n'"),
        (lambda f: f.map(x=[1]), "missing a required argument: 'n'"),
    ],
)
def test_arguments_must_be_those_of_the_function(call, what):
    @rtf.subgraph
    def f(n: tf.int32, x, *, scale=1):
        return n

    message = message_of(lambda: call(f))
    assert message == f"SubGraph 'f' takes (n, x, *, scale=1): {what}."


def test_arguments_of_a_call_of_itself_must_be_those_of_the_function():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return 0
        return f(n - 1, 2)

    message = message_of(lambda: f(3))
    assert "SubGraph 'f' takes (n): too many positional arguments." in message


def test_an_argument_must_be_what_its_annotation_says():
    @rtf.subgraph
    def f(n: tf.int32, x: tf.TensorSpec([None, 2])):
        return x

    message = message_of(lambda: f(1, [1.0, 2.0]))
    assert message == (
        "Argument 'x' of SubGraph 'f' is float32[?, 2] by its annotation, but in this "
        "call float32[2]."
    )
    message = message_of(lambda: f(1.5, [[1.0, 2.0]]))
    assert "Argument 'n' of SubGraph 'f' is int32[] by its annotation" in message
    assert message.endswith("of dtype int32. Cast it.")


def test_an_argument_must_have_the_structure_of_its_annotation():
    @rtf.subgraph
    def f(state: (tf.int32, tf.int32)):
        return state

    message = message_of(lambda: f((1, 2, 3)))
    assert "Argument 'state' of SubGraph 'f' has the structure (int32[], int32[])" in (
        message
    )


def test_a_symbolic_input_of_a_keras_model_goes_through_a_layer():
    nodes = tf.keras.Input([], dtype="int32")
    message = message_of(lambda: fib(nodes), ValueError)
    assert "A KerasTensor cannot be used as input to a TensorFlow function" in message


def test_a_tensor_array_is_not_passed():
    array = tf.TensorArray(tf.float32, 2)
    assert "takes and returns no tf.TensorArray" in message_of(lambda: fib(array))


# --- Recursion


def test_a_recursion_without_a_base_case_is_refused():
    @rtf.subgraph
    def f(n):
        return f(n - 1)

    message = message_of(lambda: f(3))
    assert "SubGraph 'f' calls itself on every way through its body" in message
    assert "Give it a base case: a branch that returns without a call" in message


def test_a_recursion_that_branches_without_a_base_case_is_refused():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return f(n + 1)
        return f(n - 1)

    assert "SubGraph 'f' calls itself on every way" in message_of(lambda: f(3))


def test_a_recursion_of_two_without_a_base_case_is_refused():
    @rtf.subgraph
    def f(n):
        return g(n)

    @rtf.subgraph
    def g(n):
        return f(n)

    assert "SubGraph 'f' calls itself on every way" in message_of(lambda: f(3))
    assert "SubGraph 'g' calls itself on every way" in message_of(lambda: g(3))


def test_an_inner_recursion_without_a_base_case_is_refused():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return 0
        return f(n - 1) + g(n)

    @rtf.subgraph
    def g(n):
        return g(n - 1)

    assert "SubGraph 'g' calls itself on every way" in message_of(lambda: f(3))


def test_a_base_case_that_is_a_loop_of_no_turns_asks_for_an_annotation():
    @rtf.subgraph
    def leaves(n):
        total = tf.cast(n < 1, tf.int32)
        for k in tf.range(n):
            total += leaves(k)
        return total

    message = message_of(lambda: leaves(3))
    assert "If it has one that is a loop of no turns" in message
    assert "annotate what it returns, e.g.\n    def leaves(...) -> tf.T" in message


def test_a_recursion_over_python_values_must_end():
    @rtf.subgraph
    def f(n, path=""):
        if n < 1:
            return n
        return f(n - 1, path + "l")

    message = message_of(lambda: f(3))
    assert "SubGraph 'f' calls itself with other Python values each time" in message
    assert "Pass as a tensor what changes, or end it by a Python condition." in message


def test_a_recursion_past_the_decorated_name_is_refused():
    def f(n):
        if n < 1:
            return 0
        return f(n - 1)

    decorated = rtf.subgraph(f)
    message = message_of(lambda: decorated(3))
    assert "Tracing SubGraph 'f' calls Python functions (f) without end" in message
    assert "must go through a name that @rtf.subgraph decorates" in message


def concatenate_below(f, n):
    return tf.concat([f(n - 1), [n]], 0)


def end_or_go_on(f, n):
    if n < 1:
        return tf.zeros([1], tf.int32)
    return f(n - 1)


@pytest.mark.parametrize("step", [concatenate_below, end_or_go_on])
def test_a_function_that_keeps_what_it_was_traced_to_may_not_call_back(step):
    run = tf.function(lambda n: step(f, n))

    @rtf.subgraph
    def f(n):
        if n < 1:
            return tf.zeros([1], tf.int32)
        return run(n)

    message = message_of(lambda: f(3))
    assert "The body of SubGraph 'f' calls a tf.function that calls a SubGr" in message
    assert "Leave out @tf.function" in message


def test_a_function_in_the_body_may_not_call_a_subgraph():
    with rtf.SubGraph("double") as double:
        double.output(2 * double.input(tf.int32))
    run = tf.function(lambda n: double(n))

    @rtf.subgraph
    def f(n):
        if n < 1:
            return 0
        return run(n) + f(n - 1)

    message = message_of(lambda: f(3))
    assert "The body of SubGraph 'f' calls a tf.function that calls a SubGr" in message


# --- Results


def test_nothing_is_not_what_an_annotation_says():
    @rtf.subgraph
    def f(n) -> tf.int32:
        n + 1

    assert "SubGraph 'f' returns None, which is not a tensor" in message_of(
        lambda: f(3)
    )


def test_a_way_through_the_body_without_return_is_refused():
    @rtf.subgraph
    def f(n):
        n + 1

    message = message_of(lambda: f(3))
    assert "SubGraph 'f' returns None, which is not a tensor" in message
    assert "Does each path through its body end in `return`?" in message


def test_what_is_no_tensor_is_not_returned():
    @rtf.subgraph
    def f(n):
        return {"n": n, "self": f}

    assert (
        "SubGraph 'f' returns <rtf.subgraph 'f'>, which is not a tensor"
        in message_of(lambda: f(3))
    )


def test_a_tensor_array_is_not_returned():
    @rtf.subgraph
    def f(n):
        return tf.TensorArray(tf.int32, 1).write(0, n)

    assert "returns no tf.TensorArray. Use what its .stack()" in message_of(
        lambda: f(3)
    )


def test_what_is_returned_must_be_what_the_annotation_says():
    @rtf.subgraph
    def f(n) -> tf.TensorSpec([3]):
        if n < 1:
            return tf.zeros([2])
        return f(n - 1)[:2]

    message = message_of(lambda: f(3))
    assert "SubGraph 'f' returns float32[2], but its annotation says float32[3]" in (
        message
    )
    assert "annotate\n    -> tf.TensorSpec([2], tf.float32)" in message


def test_branches_must_agree_on_dtypes():
    @rtf.subgraph
    def f(n):
        if n < 1:
            return 1
        return 0.5 * tf.cast(f(n - 1), tf.float32)

    message = message_of(lambda: f(3), TypeError)
    assert "dtype int32 in the main branch, but dtype float32 in the else" in message


def test_each_trace_must_return_one_structure():
    passes = []

    @rtf.subgraph
    def f(n):
        passes.append(n)
        below = tf.cond(n < 1, lambda: 0, lambda: f(n - 1)[0])
        return [below] * len(passes)

    message = message_of(lambda: f(3))
    assert "SubGraph 'f' returns (int32[], int32[]), but its base case returns" in (
        message
    )
    assert "Return the same structure and dtypes on every way" in message


# --- When it runs


@pytest.mark.every_executor
def test_an_error_names_the_path():
    @rtf.subgraph
    def walk(n):
        tf.debugging.assert_greater(n, 1, message="too small")
        if n < 1:
            return n
        return walk(n - 1)

    assert failure_of(lambda: walk(3)).startswith(
        "SubGraph 'walk' failed at walk → call#0 → call#0: "
    )


def test_what_cannot_be_batched_says_so():
    @rtf.subgraph(executor="batched")
    def f(n):
        if n < 1:
            return 0.0
        tf.timestamp()
        return f(n - 1)

    message = message_of(lambda: f(3))
    assert "SubGraph 'f' cannot run in the batched executor" in message


def test_a_callee_may_not_have_another_executor():
    @rtf.subgraph(executor="dataflow")
    def g(n):
        return n

    @rtf.subgraph(executor="batched")
    def f(n):
        return g(n)

    message = message_of(lambda: f(3))
    assert "SubGraph 'g' has an executor or options of its own" in message
