"""A fault in what compiles a program is no error of who calls it."""

import logging

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching import compilation
from recursive_tf.python.batching.differentiate import training_block
from recursive_tf.python.batching.encode import prologue_outputs
from recursive_tf.python.batching.vectorize import any_number
from tests.helpers.subgraphs import define_fib

pytestmark = pytest.mark.usefixtures("known")

PASSES = [
    (compilation, "DenseLists"),
    (compilation, "flatten"),
    (compilation, "Stages"),
    (compilation, "cut"),
    (compilation, "names_of"),
    (compilation, "make_plan"),
    (compilation, "encode"),
    (compilation, "Prologue"),
    (compilation, "PrologueOutputs"),
    (compilation, "vectorize"),
    (compilation, "inference_form"),
    (compilation, "check_gradient"),
    (any_number, "VectorizedBlock"),
    (any_number, "simplify"),
    (any_number, "emit"),
    (any_number, "make_graph"),
    (prologue_outputs, "late_parts"),
    (prologue_outputs, "extract"),
]
PASSES_OF_GRADIENTS = [
    (compilation, "make_training_block"),
    (training_block, "differentiate"),
    (training_block, "split"),
    (training_block, "Part"),
    (training_block, "make_graph"),
]


def fails(*_args, **_kwargs):
    raise KeyError("what is not there")


def break_pass(monkeypatch, module, name):
    monkeypatch.setattr(module, name, fails)


def names(passes):
    return [name for _, name in passes]


@pytest.mark.falls_back("that is what it tests")
@pytest.mark.parametrize(("module", "name"), PASSES, ids=names(PASSES))
def test_a_fault_of_a_pass_leaves_the_program_to_the_dataflow_executor(
    monkeypatch, module, name
):
    break_pass(monkeypatch, module, name)
    fib = define_fib()
    assert fib(7).numpy() == 13
    (reason,) = rtf.explain(fib).reasons
    assert reason.startswith("a fault of recursive_tf: KeyError: 'what is not there'")
    assert "Please report it" in reason


@pytest.mark.parametrize(("module", "name"), PASSES[:-6:3], ids=names(PASSES[:-6:3]))
def test_whoever_asks_for_the_batched_executor_is_told_of_the_fault(
    monkeypatch, module, name
):
    break_pass(monkeypatch, module, name)
    with pytest.raises(
        rtf.SubGraphError, match=r"a fault of recursive_tf.*Key"
    ) as told:
        define_fib(executor="batched")(7)
    cause = told.value.__cause__
    assert isinstance(cause, rtf.CannotBatchError)
    assert isinstance(cause.__cause__, KeyError)


def define_power(executor="auto"):
    with rtf.SubGraph("power", executor=executor) as power:
        n, x = power.input(tf.int32), power.input(tf.float32)
        power.output(tf.cond(n < 1, lambda: 1.0, lambda: x * power(n - 1, x)))
    return power


def slope(executor="auto"):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = define_power(executor)(3, x)
    return tape.gradient(y, x)


@pytest.mark.falls_back("that is what it tests")
@pytest.mark.parametrize(
    ("module", "name"), PASSES_OF_GRADIENTS, ids=names(PASSES_OF_GRADIENTS)
)
def test_a_fault_of_a_gradients_pass_leaves_it_to_the_dataflow_executor(
    monkeypatch, records, module, name
):
    break_pass(monkeypatch, module, name)
    np.testing.assert_allclose(slope(), 12.0)
    (said,) = [record.getMessage() for record in records()]
    assert said.startswith("The gradient of SubGraph 'power' falls back")
    assert "a fault of recursive_tf: KeyError" in said


def test_whoever_asks_for_a_batched_gradient_is_told_of_the_fault(monkeypatch):
    break_pass(monkeypatch, training_block, "split")
    with pytest.raises(rtf.SubGraphError, match="a fault of recursive_tf"):
        slope("batched")


def compile_squares():
    with rtf.SubGraph("squares", executor="batched") as squares:
        n, x = squares.input(tf.int32), squares.input(tf.float32)
        squares.output(tf.cond(n < 1, lambda: x, lambda: x * squares(n - 1, x * x)))
    return squares._close().compilation_of(mapped=False)


def test_a_fault_in_a_gradient_leaves_nothing_to_who_asks_again(monkeypatch):
    compiled, other = compile_squares(), compile_squares()
    make = compilation.make_training_block
    makers = iter([make] * (len(compiled.blocks) - 1) + [fails])
    with monkeypatch.context() as broken:
        broken.setattr(
            compilation, "make_training_block", lambda *block: next(makers)(*block)
        )
        with pytest.raises(rtf.CannotBatchError, match="a fault of recursive_tf"):
            compiled.training()
    assert compiled.training().gradient_plan() == other.training().gradient_plan()


def test_both_forms_of_a_program_are_made_of_the_same_vectorized_blocks(monkeypatch):
    calls = []
    vectorize = compilation.vectorize

    def count(program, prologue, block, wanted):
        calls.append(block.name)
        return vectorize(program, prologue, block, wanted)

    monkeypatch.setattr(compilation, "vectorize", count)
    np.testing.assert_allclose(slope("batched"), 12.0)
    assert calls
    assert len(calls) == len(set(calls))


@pytest.mark.falls_back("that is what it tests")
def test_a_fault_is_logged_once_with_its_traceback(monkeypatch, records):
    break_pass(monkeypatch, any_number, "emit")
    for _ in range(2):
        define_fib()(7)
    (record,) = records()
    assert record.exc_info[0] is KeyError
    assert "any_number.py" in logging.Formatter().format(record)


@pytest.mark.falls_back("it has an effect")
def test_what_cannot_be_batched_is_no_fault(records):
    counter = tf.Variable(0.0)
    with rtf.SubGraph("count") as count:
        count.output(counter.assign_add(count.input(tf.float32)))
    count(1.0)
    (record,) = records()
    assert record.exc_info is None
    assert "a fault of" not in record.getMessage()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_process_ends_it(monkeypatch, raised):
    def end(*_args, **_kwargs):
        raise raised

    monkeypatch.setattr(any_number, "emit", end)
    with pytest.raises(raised):
        define_fib()(7)


# --- A custom gradient that is wrong is the user's


def watched(tape, x):
    tape.watch(x)
    return x


def define_with_wrong_gradient(executor="auto"):
    @tf.custom_gradient
    def odd(x):
        def gradient(_upstream):
            raise KeyError("of the user")

        return 2.0 * x, gradient

    with rtf.SubGraph("odd", executor=executor) as f:
        f.output(odd(f.input(tf.float32)))
    return f


@pytest.mark.falls_back("its gradient is wrong")
def test_a_custom_gradient_that_raises_is_no_fault_of_a_call(records):
    np.testing.assert_allclose(define_with_wrong_gradient()(3.0), 6.0)
    assert (
        "its own gradient raises KeyError: 'of the user'" in records()[0].getMessage()
    )


@pytest.mark.falls_back("its gradient is wrong")
def test_what_a_custom_gradient_raises_is_raised_where_it_is_asked_for():
    f, x = define_with_wrong_gradient(), tf.constant(3.0)
    with tf.GradientTape() as tape, pytest.raises(KeyError, match="of the user"):
        tape.gradient(f(watched(tape, x)), x)
