"""What a definition may look like, and how a wrong one is refused."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.subgraphs import define_fib, define_hand_down
from tests.helpers.values import as_numpy

# --- What a definition may be


def test_a_subgraph_without_recursion_is_a_function():
    with rtf.SubGraph("double") as double:
        double.output(2 * double.input(tf.float32))
    assert float(double(1.5)) == 3.0


def test_a_subgraph_needs_no_input():
    with rtf.SubGraph("seven") as seven:
        seven.output(tf.constant(7))
    assert int(seven()) == 7


def test_a_subgraph_needs_no_name():
    with rtf.SubGraph() as double:
        double.output(2 * double.input(tf.int32))
    assert int(double(4)) == 8


@pytest.mark.parametrize("name", ["tree LSTM", "1st", "größe", "a/b:c", "_x", "f_12"])
def test_a_name_is_any_text(name):
    assert int(define_fib(name)(6)) == 8


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match=r"The name of a SubGraph is a str.*lambda"):
        rtf.SubGraph(lambda n: n)


def test_two_subgraphs_of_one_name_do_not_meet():
    with rtf.SubGraph("f") as double:
        double.output(2 * double.input(tf.int32))
    with rtf.SubGraph("f") as triple:
        triple.output(3 * triple.input(tf.int32))
    assert [int(double(1)), int(triple(1))] == [2, 3]


def test_an_input_and_an_output_may_be_the_same_tensor():
    assert int(define_hand_down(tf.int32)(3, 42)) == 42


def test_one_tensor_may_be_returned_twice():
    with rtf.SubGraph("twice") as twice:
        n = twice.input(tf.int32)
        twice.output(n, n)
    assert as_numpy(twice(3)) == (3, 3)


def test_outputs_may_be_python_numbers():
    with rtf.SubGraph("constants") as constants:
        constants.output(1, 2.5)
    assert as_numpy(constants()) == (1, 2.5)


def test_an_input_may_be_unused():
    with rtf.SubGraph("second") as second:
        second.input(tf.float32)
        second.output(second.input(tf.int32))
    assert int(second(0.5, 3)) == 3


def test_repr_shows_what_a_subgraph_takes_and_returns():
    assert repr(define_fib()) == "<SubGraph 'fib' (int32[]) -> int32[]>"


def test_repr_shows_that_an_output_is_not_known_yet():
    assert repr(rtf.SubGraph("f")) == "<SubGraph 'f' () -> ?>"


def test_a_subgraph_prints_what_it_captures_pushes_and_calls():
    weight = tf.Variable([1.0, 2.0], name="weight")
    last = rtf.SubGraph("last", output_signature=tf.TensorSpec([2]))

    @tf.function
    def define(scale):
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            more = lambda: f(n - 1) + last.map([n])[0]  # noqa: E731
            value = tf.cond(n < 1, lambda: weight * scale, more)
            f.push("value", value, index=n, size=3)
            f.output(value)
        return str(f)

    lines = []
    define_again = tf.function(
        lambda scale: lines.append(define.python_function(scale))
    )
    define_again.get_concrete_function(tf.TensorSpec([]))
    first, captures, *uses = lines[0].splitlines()
    assert first == "SubGraph 'f' (int32[]) -> float32[2]"
    assert captures == "  captures weight float32[2], scale float32[]"
    places = [use.partition(" at ")[0].strip() for use in uses]
    assert places == ["calls f", "maps last", "pushes 'value'"]
    assert all("test_definitions.py:" in use for use in uses)


def test_a_subgraph_without_output_yet_prints_its_signature():
    f = rtf.SubGraph("f")
    assert str(f) == repr(f)


# --- What it may not be


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
