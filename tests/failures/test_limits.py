"""Limits stop a recursion that is too deep or too large."""

import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import recursive_tf as rtf
from tests.helpers.failures import failure_of, message_of
from tests.helpers.subgraphs import define_fib

pytestmark = pytest.mark.every_executor


def define_endless(**limits):
    with rtf.SubGraph("endless", options=rtf.Options(**limits)) as endless:
        n = endless.input(tf.int32)
        endless.output(tf.cond(n < 0, lambda: n, lambda: endless(n + 1)))
    return endless


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


def define_wide(width, num_calls, **limits):
    """Returns an endless SubGraph that hands a new state to its calls."""
    with rtf.SubGraph("wide", options=rtf.Options(**limits)) as wide:
        n, state = wide.input(tf.int32), wide.input(tf.TensorSpec([width]))
        deeper = lambda: tf.add_n(  # noqa: E731
            [wide(n + 1, tf.tanh(state) * float(i + 1)) for i in range(num_calls)]
        )
        wide.output(tf.cond(n < 0, lambda: state, deeper))
    return wide


@pytest.mark.parametrize("num_calls", [1, 2])
@pytest.mark.parametrize("differentiates", [False, True], ids=["run", "train"])
def test_max_bytes_bounds_what_calls_hold(num_calls, differentiates):
    wide = define_wide(4096, num_calls, max_bytes=4_000_000)

    @tf.function
    def run(state):
        y = tf.reduce_sum(wide(0, state))
        return tf.gradients(y, state) if differentiates else y

    message = message_of(lambda: run(tf.ones(4096)), tf.errors.ResourceExhaustedError)
    assert "SubGraph 'wide' failed at wide → call#" in message
    assert "hold more than max_bytes=4000000" in message
    assert "a cycle in child indices" in message
    assert "pass options=rtf.Options(max_bytes=...) to the SubGraph" in message


def test_a_state_that_all_calls_share_is_held_once():
    options = rtf.Options(max_bytes=20_000_000)
    with rtf.SubGraph("chain", options=options) as chain:
        n, state = chain.input(tf.int32), chain.input(tf.TensorSpec([100_000]))
        more = lambda: chain(n - 1, state) + tf.reduce_sum(state)  # noqa: E731
        chain.output(tf.cond(n < 1, lambda: 0.0, more))

    @tf.function
    def run(state):
        return tf.gradients(chain(200, state), state)[0]

    assert run(tf.ones(100_000))[0] == 200.0


def test_max_bytes_bounds_what_turns_of_a_loop_keep():
    options = rtf.Options(max_bytes=20_000_000)
    with rtf.SubGraph("turns", options=options) as turns:
        n, state = turns.input(tf.int32), turns.input(tf.TensorSpec([200]))

        def leaf():
            turn = lambda k, x: (k + 1, tf.tanh(x))  # noqa: E731
            return tf.while_loop(lambda k, _: k < 1000, turn, (0, state))[1]

        more = lambda: turns(n - 1, turns(0, state))  # noqa: E731
        turns.output(tf.cond(n < 1, leaf, more))

    @tf.function
    def run(state):
        return tf.gradients(turns(100, state), state)

    message = message_of(lambda: run(tf.ones(200)), tf.errors.ResourceExhaustedError)
    assert "hold more than max_bytes=20000000" in message


def test_a_call_after_a_limit_was_reached_works():
    fib = define_fib(options=rtf.Options(max_depth=5))
    message_of(lambda: fib(50), tf.errors.ResourceExhaustedError)
    assert int(fib(5)) == 5


def without_max_bytes(path):
    """Takes max_bytes out of a saved model, as in one from before there was any.

    Returns:
        How many ops had it.
    """
    model = saved_model_pb2.SavedModel()
    model.ParseFromString(path.read_bytes())
    graph = model.meta_graphs[0].graph_def
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    had = [node for node in nodes if node.attr.pop("max_bytes", None) is not None]
    path.write_bytes(model.SerializeToString())
    return len(had)


def test_a_model_that_was_saved_without_max_bytes_runs(tmp_path):
    fib = define_fib()
    module = tf.Module()
    module.run = tf.function(fib, input_signature=[tf.TensorSpec([], tf.int32)])
    tf.saved_model.save(module, tmp_path)
    assert without_max_bytes(tmp_path / "saved_model.pb") > 0
    assert int(tf.saved_model.load(tmp_path).run(10)) == 55
