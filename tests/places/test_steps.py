"""What runs within a root call is a part of the step that the root call is in.

Ops that show what a step is are in `tests/helpers/step_ops.cc`, which is compiled here.
"""

import pathlib
import subprocess
import time

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.subgraphs import define_fib

pytestmark = pytest.mark.slow

# Only a session takes options of a step.
v1 = tf.compat.v1  # noqa: TID251

SOURCE = pathlib.Path(__file__).parents[1] / "helpers/step_ops.cc"
TIMEOUT_MS = 120_000


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    """The module of `TestStep` and `TestRunAlone`."""
    library = tmp_path_factory.mktemp("ops") / "step_ops.so"
    flags = [*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]
    command = ["g++", "-shared", "-fPIC", "-w", SOURCE, "-o", library, *flags]
    subprocess.run(command, check=True)
    return tf.load_op_library(str(library))


def steps_of(ops, **options):
    """Runs a session with some options.

    Returns:
        Deadline and threads of an op beside a root call, and of one in a body that a
        body calls.
    """
    with tf.Graph().as_default(), v1.Session() as session:
        with rtf.SubGraph("f", executor="dataflow") as f:
            n = f.input(tf.int32)
            here = lambda: tuple(ops.test_step(n))  # noqa: E731
            f.output(*tf.cond(n < 1, here, lambda: f(n - 1)))
        beside, within = ops.test_step(0), f(3)
        chosen = v1.RunOptions(**options)
        return session.run([tuple(beside), within], options=chosen)


def test_a_body_knows_the_deadline_of_its_step(ops):
    latest = (time.time() + TIMEOUT_MS / 1000 + 60) * 1e6
    (beside, _), (within, _) = steps_of(ops, timeout_in_ms=TIMEOUT_MS)
    assert within == beside
    assert time.time() * 1e6 < within < latest


def test_a_body_without_a_deadline_has_none(ops):
    (beside, _), (within, _) = steps_of(ops)
    assert within == beside == -1


def test_a_body_uses_the_threads_of_its_step(ops):
    experimental = v1.RunOptions.Experimental(use_run_handler_pool=True)
    (_, usual), _ = steps_of(ops)
    (_, beside), (_, within) = steps_of(ops, experimental=experimental)
    assert beside != usual
    assert within == beside


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_a_step_that_nobody_can_cancel_runs(ops, executor):
    fib = define_fib(executor=executor)
    function = tf.function(fib, input_signature=[tf.TensorSpec([], tf.int32)])

    @tf.function
    def run(n):
        return ops.test_run_alone(n, f=function.get_concrete_function())

    assert int(run(10)) == 55


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_a_failure_ends_a_step_that_nobody_can_cancel(ops, executor):
    fib = define_fib(executor=executor, options=rtf.Options(max_depth=5))
    function = tf.function(fib, input_signature=[tf.TensorSpec([], tf.int32)])

    @tf.function
    def run(n):
        return ops.test_run_alone(n, f=function.get_concrete_function())

    message = message_of(lambda: run(50), tf.errors.ResourceExhaustedError)
    assert "the recursion reached max_depth=5" in message
