"""`memo=`: keys that are none, keys that wait for each other, and limits."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of, message_of
from tests.helpers.graphs import define_evaluation, random_graph

pytestmark = pytest.mark.every_executor


CYCLE = tf.errors.FailedPreconditionError


# --- At the definition


@pytest.mark.traces_only
def test_memo_is_a_function():
    with pytest.raises(TypeError, match="memo= is a function of the inputs"):
        rtf.SubGraph("f", memo=3)


@pytest.mark.parametrize(
    ("memo", "gives"),
    [
        (lambda n: tf.cast(n, tf.float32), "float32[]"),
        (lambda n: tf.cast(n, tf.int16), "int16[]"),
        (lambda n: tf.stack([n, n]), "int32[2]"),
        (lambda n: (n, n), "int32[], int32[]"),
        (lambda n: (), "nothing"),
    ],
)
@pytest.mark.traces_only
def test_a_key_that_is_none_is_refused_at_the_definition(memo, gives):
    def define():
        with rtf.SubGraph("f", memo=memo) as f:
            f.output(f.input(tf.int32))

    message = message_of(define)
    assert f"memo= of SubGraph 'f' gives {gives}: a key is one scalar" in message
    assert "`lambda i, j: i * width + j`" in message


@pytest.mark.parametrize(
    "spec",
    [
        tf.float32,
        tf.complex64,
        tf.RaggedTensorSpec([None, None], tf.float32),
        {"a": tf.TensorSpec([], tf.int32), "b": tf.TensorSpec([3], tf.float64)},
    ],
    ids=["float32", "complex64", "ragged", "structure"],
)
@pytest.mark.traces_only
def test_a_differentiable_input_is_refused_with_the_cure(spec):
    def define():
        with rtf.SubGraph("f", memo=lambda n, x: n) as f:
            f.input(tf.int32)
            f.input(spec)

    message = message_of(define)
    assert "Input 1 of SubGraph 'f' is " in message
    assert "with memo= no input may be differentiable" in message
    assert "tf.gather(values, node)" in message


@pytest.mark.traces_only
def test_what_is_local_to_another_body_is_refused():
    def run():
        with rtf.SubGraph("outer") as outer:
            n = outer.input(tf.int32)
            with rtf.SubGraph("inner", memo=lambda m: m) as inside:
                m = inside.input(tf.int32)
                inside.output(m + n)
            outer.output(inside(n))
        outer(3)

    message = message_of(run)
    assert "SubGraph 'inner' has memo=, but it, or one that it calls, uses" in message
    assert "of the body of SubGraph 'outer'" in message


# --- In a run


@pytest.mark.falls_back("an unknown shape")
def test_a_key_whose_shape_is_only_known_when_it_runs_is_checked_then():
    with rtf.SubGraph("f", memo=lambda x: x) as f:
        x = f.input(tf.int32, None)
        f.output(tf.reduce_sum(x))
    assert int(f(3)) == 3
    assert failure_of(lambda: f([1, 2])) == (
        "SubGraph 'f' failed at f: memo= must give a scalar; got the shape [2]."
    )


def test_a_key_that_waits_for_itself_is_an_error():
    with rtf.SubGraph("f", memo=lambda n: n % 7) as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 0, lambda: n, lambda: f(n + 1) + f(n + 2)))
    for _ in range(5):
        message = failure_of(lambda: f(0), CYCLE)
        assert "SubGraph 'f' failed at f → call#" in message
        assert "of memo=, which waits for this invocation itself" in message
        assert "look for a cycle in the data" in message


def test_a_node_that_is_its_own_child_is_an_error():
    signature = tf.TensorSpec([], tf.int32)
    with rtf.SubGraph("f", memo=lambda n: n, output_signature=signature) as f:
        f.output(f(f.input(tf.int32)) + 1)
    assert failure_of(lambda: f(5), CYCLE).startswith(
        "SubGraph 'f' failed at f → call#0: it asks for the key 5 of memo="
    )


def test_the_error_of_a_cycle_has_its_keys():
    """0 → 1 → 2 → 3 → 4 → 0, in which one waits for the next."""
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 0, lambda: n, lambda: f((n + 1) % 5)))
    message = failure_of(lambda: f(0), CYCLE)
    [keys] = re.findall(r"so that neither can go on: ([^.]*)\.", message)
    first, *others = map(int, keys.split(" → "))
    assert others == [(first + i) % 5 for i in range(1, 6)]


def test_a_cycle_through_other_subgraphs_and_rows_is_an_error():
    """The two rows need each other, through a SubGraph without memo=."""
    through = rtf.SubGraph("through", output_signature=tf.TensorSpec([], tf.int32))
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 0, lambda: n, lambda: through(1 - n)))
    with through:
        through.output(f(through.input(tf.int32)) + 1)
    message = failure_of(lambda: f.map([0, 1]), CYCLE)
    assert "SubGraph 'f' failed at f[row " in message
    assert "call#0 (through)" in message
    assert f.map([-3, -4]).numpy().tolist() == [-3, -4]


def test_what_fails_fails_for_all_that_share_it():
    table = tf.constant([1, 2])
    value = define_evaluation(random_graph(5), lambda n: tf.gather(table, n), tf.add)
    message = failure_of(lambda: value.map([29, 28, 29]))
    assert "SubGraph 'value' failed at value[row " in message
    assert "indices" in message


def define_doubling(**choices):
    """Returns 2^n, by two calls of the same."""
    with rtf.SubGraph("f", memo=lambda n: n, **choices) as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: 1, lambda: f(n - 1) + f(n - 1)))
    return f


@pytest.mark.parametrize(
    ("enough", "less", "reached"),
    [
        ({"max_depth": 10}, {"max_depth": 9}, "the recursion reached max_depth=9"),
        # Of each number that is asked for, one or two are alive at once.
        (
            {"max_activations": 19},
            {"max_activations": 9},
            "the root call reached max_activations=9",
        ),
    ],
)
def test_limits_count_an_invocation_and_what_it_shares_as_one(enough, less, reached):
    assert int(define_doubling(options=rtf.Options(**enough))(9)) == 512
    f = define_doubling(options=rtf.Options(**less))
    message = failure_of(lambda: f(9), tf.errors.ResourceExhaustedError)
    assert "SubGraph 'f' failed at f → call#" in message
    assert reached in message
