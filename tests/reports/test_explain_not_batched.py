"""`rtf.explain` says why a program is not batched, with the line of the user's code."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib
from tests.reports.explained import define_timed

COUNT = tf.Variable(0.0)


@tf.custom_gradient
def counted_gradient(x):
    return x + 0.0, lambda dy: dy * COUNT


REFUSED = {
    "an effect": (
        lambda x, _: x + COUNT.assign_add(1.0),
        "AssignAddVariableOp.* has an effect for each activation",
    ),
    "a shape of the row": (
        lambda x, _: tf.reduce_sum(tf.unique(x)[0]),
        "Unique.* may differ between activations. Say what it is",
    ),
    "no rule": (
        lambda _, n: tf.math.invert_permutation([n, 1 - n]),
        "InvertPermutation.* no rule for it. Give one with rtf.register_vectorization",
    ),
    "a filter of the row": (
        lambda x, _: tf.nn.conv1d(tf.ones([1, 5, 1]), x[:, None, None], 1, "SAME"),
        "Conv2D.* its input 'filter' may differ between activations",
    ),
    "a gradient of the user's": (
        lambda x, _: counted_gradient(x),
        "has a gradient of its own, .* which uses a variable",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_the_reason_has_the_line_of_the_users_code(case):
    body, reason = case
    with rtf.SubGraph("f") as f:
        f.output(body(f.input(tf.float32, [3]), f.input(tf.int32)))
    explanation = rtf.explain(f)
    assert explanation.executor == "dataflow"
    (found,) = explanation.reasons
    assert re.search(reason, found)
    assert f"test_explain_not_batched.py:{body.__code__.co_firstlineno}" in found
    assert "Not batched: " in str(explanation)


def test_a_loop_around_a_call_is_described():
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([], tf.int32)) as f:
        n = f.input(tf.int32)
        turn = lambda i: [i + f(i) + 1]  # noqa: E731
        f.output(tf.while_loop(lambda i: i < n, turn, [0])[0])
    explanation = rtf.explain(f)
    assert explanation.executor == "batched"
    assert "  goes on in f/loop\n" in str(explanation)
    assert "  goes on in f/loop/end or f/loop/turn\n" in str(explanation)


def test_the_users_choice_is_the_reason():
    explanation = rtf.explain(define_fib(executor="dataflow"))
    assert explanation.executor == "dataflow"
    assert explanation.reasons == ['executor="dataflow" was chosen.']


def test_a_program_that_must_be_batched_and_cannot_raises():
    with rtf.SubGraph("f", executor="batched") as f:
        f.output(f.input(tf.float32) + COUNT.assign_add(1.0))
    with pytest.raises(rtf.SubGraphError, match="AssignAddVariableOp"):
        rtf.explain(f)


@pytest.mark.falls_back("it has an effect")
def test_the_dataflow_executor_launches_nothing():
    timed = define_timed()
    explanation = rtf.explain(timed)
    timed(4)
    assert explanation.launches == explanation.rows_per_launch == {}
    assert explanation.lower_bound == explanation.bytes_moved == 0
    assert explanation.backward is None
    assert "Nothing is launched" in str(explanation)
    explanation.close()


def test_call_sites_are_described_with_their_lines():
    words = rtf.explain(define_fib(executor="dataflow")).program.describe()
    assert re.fullmatch(
        r"fib\n  call#0 of fib at \S+subgraphs.py:\d+\n"
        r"  call#1 of fib at \S+subgraphs.py:\d+",
        words,
    )


def test_a_subgraph_that_calls_nobody():
    with rtf.SubGraph("f", executor="dataflow") as f:
        f.output(f.input(tf.float32))
    assert rtf.explain(f).program.describe() == "f\n  calls nobody"


def test_an_input_whose_shape_varies_is_named():
    with rtf.SubGraph("f") as f:
        f.output(tf.reduce_sum(f.input(tf.float32, [None], name="words")))
    (reason,) = rtf.explain(f).reasons
    assert re.search(
        r"Input 'words' at .*test_explain_not_batched.py:\d+: its shape", reason
    )
