"""A rule of the library that is wrong refuses an op; who wrote another one is told."""

import logging

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching.vectorize.rules import table
from recursive_tf.python.root_calls import fallback
from tests.helpers.rules import restored_rules


@pytest.fixture(autouse=True)
def rules(monkeypatch):
    monkeypatch.setattr(fallback, "_warned", set())
    with restored_rules():
        yield


def too_wide(block, op, inputs):
    del op
    return [tf.concat([block.all_rows(inputs[0])] * 2, 1)]


def of_another_dtype(block, op, inputs):
    del op
    return [tf.cast(block.all_rows(inputs[0]), tf.float64)]


def one_too_many(block, op, inputs):
    del op
    return [block.all_rows(inputs[0])] * 2


def what_cannot_be(block, op, inputs):
    del op
    return [tf.reshape(block.all_rows(inputs[0]), [block.num_rows, 17])]


def an_error(block, op, inputs):
    raise KeyError("no such thing")


FAULTS = [too_wide, of_another_dtype, one_too_many, what_cannot_be, an_error]


def register(rule, *, of_library):
    """Makes `rule` that for square roots, as the library's or as a user's."""

    def registered(block, op, inputs):
        return rule(block, op, inputs)

    if of_library:
        registered.__module__ = table.__name__
    rtf.register_vectorization("Sqrt")(registered)


def define(executor="auto", body=tf.sqrt):
    with rtf.SubGraph("root", executor=executor) as f:
        f.output(body(f.input(tf.TensorSpec([3]))))
    return f


ROWS = tf.constant([[1.0, 4.0, 9.0], [16.0, 25.0, 36.0]])


@pytest.mark.falls_back("that is what it tests")
@pytest.mark.parametrize("rule", FAULTS)
def test_a_wrong_rule_of_the_library_leaves_the_program_to_the_dataflow_executor(rule):
    register(rule, of_library=True)
    f = define()
    np.testing.assert_allclose(f.map(ROWS), np.sqrt(ROWS))
    (reason,) = rtf.explain(f).reasons
    assert "Sqrt" in reason
    assert "its rule is at fault" in reason


@pytest.mark.parametrize("rule", FAULTS)
def test_whoever_asks_for_the_batched_executor_is_told(rule):
    register(rule, of_library=True)
    with pytest.raises(rtf.SubGraphError, match="its rule is at fault"):
        define("batched").map(ROWS)


@pytest.mark.parametrize("rule", FAULTS)
def test_a_wrong_rule_of_a_user_is_an_error(rule):
    register(rule, of_library=False)
    raised = (rtf.RuleError, ValueError, KeyError)
    with pytest.raises(raised, match=r"The rule for Sqrt|no such thing|Cannot reshape"):
        define().map(ROWS)


@pytest.mark.falls_back("a rule of the library is refused", at=True)
@pytest.mark.parametrize("of_library", [True, False])
def test_a_wrong_rule_within_a_loop_is_whose_it_is(of_library):
    register(an_error, of_library=of_library)

    def body(x):
        def turn(i, y):
            return i + 1, tf.sqrt(y)

        return tf.while_loop(lambda i, _: i < 2, turn, (0, x))[1]

    f = define(body=body)
    if of_library:
        np.testing.assert_allclose(f.map(ROWS), np.sqrt(np.sqrt(ROWS)), rtol=1e-6)
    else:
        with pytest.raises(KeyError, match="no such thing"):
            f.map(ROWS)


@pytest.mark.falls_back("a rule of the library is refused", at=True)
@pytest.mark.parametrize("of_library", [True, False])
def test_a_wrong_rule_for_each_item_of_a_list_is_whose_it_is(of_library):
    register(too_wide, of_library=of_library)
    with rtf.SubGraph("total") as f:
        n = f.input(tf.int32)
        items = tf.cast(tf.range(n), tf.float32)[:, tf.newaxis]
        f.output(tf.reduce_sum(tf.sqrt(items)))
    if of_library:
        np.testing.assert_allclose(f(5), np.sqrt(np.arange(5.0)).sum(), rtol=1e-6)
        assert "its rule is at fault" in rtf.explain(f).reasons[0]
    else:
        with pytest.raises(rtf.RuleError):
            f(5)


@pytest.mark.falls_back("that is what it tests")
def test_a_fault_is_logged_once(caplog):
    register(an_error, of_library=True)
    with caplog.at_level(logging.WARNING):
        define()(ROWS[0])
        define()(ROWS[0])
    said = [r.getMessage() for r in caplog.records if "Sqrt" in r.getMessage()]
    assert len(said) == 1
    assert "reported to recursive_tf" in said[0]
