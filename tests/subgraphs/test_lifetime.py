"""What programs and their calls leave behind."""

import gc
import pathlib
import resource
import sys
import weakref

import pytest
import tensorflow as tf
from tensorflow.python.eager import context  # noqa: TID251
from tensorflow.python.framework import ops  # noqa: TID251

import recursive_tf as rtf
from tests.helpers.programs import Program
from tests.helpers.subgraphs import define_fib, define_power
from tests.helpers.tracing import INT, trace, trace_gradient

pytestmark = pytest.mark.every_executor


def call_eagerly(f, weight):
    f(3, weight * 1.0)


def call_mapped(f, weight):
    f.map([1, 2], [1.0, 2.0])


def call_in_a_function(f, weight):
    tf.function(lambda x: f(3, x), autograph=False)(weight * 1.0)


def call_for_a_gradient(f, weight):
    with tf.GradientTape() as tape:
        y = f(3, weight * 1.0)
    assert tape.gradient(y, weight) is not None


def run_a_program(call, weight):
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        both = lambda: f(n - 1, x) + weight * f(n - 2, x)  # noqa: E731
        f.output(tf.cond(n < 2, lambda: x, both))
    call(f, weight)


def count_functions():
    gc.collect()
    return len(context.context().list_function_names())


@pytest.mark.parametrize(
    "call", [call_eagerly, call_mapped, call_in_a_function, call_for_a_gradient]
)
def test_functions_of_dropped_programs_are_released(call):
    weight = tf.Variable(2.0)
    run_a_program(call, weight)
    before = count_functions()
    for _ in range(5):
        run_a_program(call, weight)
    assert count_functions() == before


def megabytes():
    """Returns the memory of this process."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def growth_over_programs(call, programs):
    """Returns by how many megabytes a sixth of some programs grows.

    What waits for the garbage collector leaves holes, which the next programs fill: so
    the least of three parts is compared with that of the three after them.
    """
    weight = tf.Variable(2.0)
    sizes = []
    for _part in range(6):
        for _ in range(int(programs) // 6):
            run_a_program(globals()[call], weight)
        sizes.append(megabytes())
    return (min(sizes[3:]) - min(sizes[:3])) / 3


def growth_over_calls():
    fib = define_fib()
    concrete = trace(fib, INT)
    for _ in range(50):
        concrete(tf.constant(10))
    before = megabytes()
    for _ in range(500):
        concrete(tf.constant(10))
    return megabytes() - before


def growth_over_training_steps():
    weight = tf.Variable(2.0)
    gradient = trace_gradient(weight, define_power(weight))
    args = tf.constant(50), tf.constant(1.0)
    for _ in range(50):
        gradient(*args)
    before = megabytes()
    for _ in range(300):
        gradient(*args)
    return megabytes() - before


def in_own_process(folder, executor, measure, *args):
    """Returns what `measure` does, where no other test moves the memory."""
    arguments = [executor, measure.__name__, *args]
    program = Program(pathlib.Path(__file__), arguments, folder / "log")
    return float(program.finish(300).split()[-1])


# Of another process, in which the batched executor is asked for by name.
IN_EACH = pytest.mark.parametrize("chosen", ["dataflow", "batched"])


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.traces_only
@pytest.mark.parametrize("call", [call_eagerly, call_for_a_gradient])
@IN_EACH
def test_memory_is_flat_over_programs_that_are_dropped(call, chosen, tmp_path):
    # A sixth would cost 23 MB or more if they stayed; an allocator is noisy.
    measured = growth_over_programs, call.__name__, "180"
    assert in_own_process(tmp_path, chosen, *measured) < 8


@pytest.mark.traces_only
@IN_EACH
def test_memory_is_flat_over_calls_of_one_program(chosen, tmp_path):
    assert in_own_process(tmp_path, chosen, growth_over_calls) < 5


@pytest.mark.traces_only
@IN_EACH
def test_memory_is_flat_over_training_steps(chosen, tmp_path):
    assert in_own_process(tmp_path, chosen, growth_over_training_steps) < 5


def test_a_dropped_subgraph_dies():
    fib = define_fib()
    fib(5)
    dropped = weakref.ref(fib)
    del fib
    gc.collect()
    assert dropped() is None


def test_a_function_keeps_the_program_that_it_calls():
    run = tf.function(lambda n: define_fib()(n), autograph=False)
    first = int(run(tf.constant(10)))
    gc.collect()
    assert [first, int(run(tf.constant(11)))] == [55, 89]


def run_with_a_custom_gradient(weight):
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        more = lambda: tf.nn.silu(weight * f(n - 1, x))  # noqa: E731
        f.output(tf.cond(n < 1, lambda: x, more))
    call_for_a_gradient(f, weight)


def count_custom_gradients():
    gc.collect()
    names = ops.gradient_registry.list()
    return sum("CustomGradient" in name for name in names)


def test_custom_gradients_of_dropped_programs_are_released():
    weight = tf.Variable(2.0)
    run_with_a_custom_gradient(weight)
    before = count_custom_gradients()
    for _ in range(3):
        run_with_a_custom_gradient(weight)
    assert count_custom_gradients() == before


@pytest.mark.traces_only
def test_so_are_those_of_a_subgraph_that_nothing_calls():
    def define():
        with rtf.SubGraph("f") as f:
            x = f.input(tf.float32)
            f.output(tf.cond(x > 0.0, lambda: tf.nn.silu(x), lambda: x))

    define()
    before = count_custom_gradients()
    for _ in range(3):
        define()
    assert count_custom_gradients() == before


@pytest.mark.traces_only
def test_those_of_a_function_that_was_traced_elsewhere_stay():
    silu = tf.function(tf.nn.silu, input_signature=[tf.TensorSpec([])])
    silu.get_concrete_function()
    before = count_custom_gradients()
    with rtf.SubGraph("f") as f:
        f.output(silu(f.input(tf.float32)))
    del f, silu
    assert count_custom_gradients() == before


if __name__ == "__main__":
    executor, measure, *arguments = sys.argv[1:]
    rtf.SubGraph.__init__.__kwdefaults__["executor"] = executor
    sys.stdout.write(f"{globals()[measure](*arguments)}\n")
