"""The closed program: what its ops are, what runs at once, what it leaves behind."""

import gc
import os
import pathlib
import resource
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context  # noqa: TID251

import recursive_tf as rtf

INT = tf.TensorSpec([], tf.int32)
FLOAT = tf.TensorSpec([], tf.float32)


class ClosedProgram:
    """What a concrete function's root op carries.

    Attributes:
        root: The root op.
        nodes: The nodes of all procedures, of the functions that they name included.
    """

    def __init__(self, concrete, root_type="RecursiveInvoke"):
        graph = concrete.graph.as_graph_def()
        self._functions = {f.signature.name: f for f in graph.library.function}
        everything = [*graph.node, *self._nodes_of(self._functions)]
        (self.root,) = (node for node in everything if node.op == root_type)
        procedures = self.root.attr["procedures"].list.func
        self.nodes = list(self._nodes_within([f.name for f in procedures]))

    def types(self):
        return {node.op for node in self.nodes}

    def of_type(self, *types):
        return [node for node in self.nodes if node.op in types]

    def _nodes_of(self, names):
        for name in names:
            yield from self._functions[name].node_def

    def _nodes_within(self, names):
        for node in self._nodes_of(names):
            yield node
            for attr in node.attr.values():
                named = [attr.func, *attr.list.func]
                yield from self._nodes_within([f.name for f in named if f.name])


def control_inputs(node):
    return [name for name in node.input if name.startswith("^")]


def define_fib(leaf=lambda n: n):
    with rtf.SubGraph("fib") as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: leaf(n), lambda: fib(n - 1) + fib(n - 2)))
    return fib


def define_power(weight):
    """Returns a SubGraph that multiplies by a variable n times."""
    with rtf.SubGraph("power") as power:
        n, x = power.input(tf.int32), power.input(tf.float32)
        more = lambda: weight * power(n - 1, x)  # noqa: E731
        power.output(tf.cond(n < 1, lambda: x, more))
    return power


def trace(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def program_of(subgraph, *specs):
    return ClosedProgram(trace(lambda *args: subgraph(*args), *specs))


# --- Programs that only read


def test_calls_of_a_program_that_only_reads_are_the_stateless_twin():
    program = program_of(define_fib(), INT)
    assert len(program.of_type("StatelessRecursiveCall")) == 2
    assert not program.of_type("RecursiveCall")


def test_conditionals_of_a_program_that_only_reads_are_stateless():
    assert {"If", "StatelessIf"} & program_of(define_fib(), INT).types() == {
        "StatelessIf"
    }


def test_calls_of_a_program_that_only_reads_do_not_wait_for_each_other():
    calls = program_of(define_fib(), INT).of_type("StatelessRecursiveCall")
    assert [control_inputs(call) for call in calls] == [[], []]


def test_a_switch_case_of_a_program_that_only_reads_is_stateless():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.switch_case(n, [lambda: n, lambda: f(n - 1)]))
    assert {"Case", "StatelessCase"} & program_of(f, INT).types() == {"StatelessCase"}


def test_assertions_and_pushes_leave_calls_without_order():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        tf.debugging.assert_greater(n, -1)
        f.push("n", n, index=n, size=100)
        f.output(tf.cond(n < 2, lambda: n, lambda: f(n - 1) + f(n - 2)))
    calls = program_of(f, INT).of_type("StatelessRecursiveCall", "RecursiveCall")
    assert [control_inputs(call) for call in calls] == [[], []]
    assert {call.op for call in calls} == {"StatelessRecursiveCall"}


def test_a_read_variable_leaves_calls_without_order():
    weight = tf.Variable(2.0)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        both = lambda: f(n - 1) + weight * f(n - 2)  # noqa: E731
        f.output(tf.cond(n < 2, lambda: weight * 1, both))
    calls = program_of(f, INT).of_type("StatelessRecursiveCall")
    assert [control_inputs(call) for call in calls] == [[], []]


def test_a_variable_is_read_once_at_the_root():
    weight = tf.Variable(2.0)
    concrete = trace(define_power(weight), INT, FLOAT)
    assert "ReadVariableOp" not in ClosedProgram(concrete).types()
    reads = [
        op for op in concrete.graph.get_operations() if op.type == "ReadVariableOp"
    ]
    assert len(reads) == 1


def test_a_variable_of_two_subgraphs_is_read_once_at_the_root():
    weight = tf.Variable(2.0)
    power = define_power(weight)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(power(n, weight + 1))
    concrete = trace(f, INT)
    reads = [
        op for op in concrete.graph.get_operations() if op.type == "ReadVariableOp"
    ]
    assert len(reads) == 1


def test_rows_of_a_variable_are_gathered_without_reading_all_of_it():
    embedding = tf.Variable(tf.zeros([5, 3]))
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.gather(embedding, n))
    concrete = trace(f, INT)
    assert "ResourceGather" in ClosedProgram(concrete).types()
    assert "ReadVariableOp" not in {op.type for op in concrete.graph.get_operations()}


# --- Programs with effects


EFFECTS = {
    "assign": lambda state, n: state.assign_add(n),
    "print": lambda state, n: tf.print(n, output_stream="file:///dev/null"),
    "random": lambda state, n: tf.random.uniform([]),
}


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=EFFECTS)
def test_calls_of_a_program_with_effects_are_stateful_and_ordered(effect):
    state = tf.Variable(0)

    def leaf(n):
        effect(state, n)
        return n

    first, second = program_of(define_fib(leaf), INT).of_type("RecursiveCall")
    assert f"^{first.name}" in control_inputs(second)


def test_a_program_with_effects_reads_variables_where_its_text_does():
    state = tf.Variable(0)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        state.assign(n)
        f.output(state + 1)
    assert "ReadVariableOp" in program_of(f, INT).types()
    assert int(f(4)) == 5


def test_one_procedure_with_an_effect_orders_all_of_a_program():
    state = tf.Variable(0)
    with rtf.SubGraph("writes") as writes:
        n = writes.input(tf.int32)
        state.assign_add(n)
        writes.output(n)
    program = program_of(define_fib(leaf=writes), INT)
    assert len(program.of_type("RecursiveCall")) == 3
    assert not program.of_type("StatelessRecursiveCall")


# --- The form of a program


def test_no_procedure_names_a_procedure():
    program = program_of(define_fib(), INT)
    procedures = {f.name for f in program.root.attr["procedures"].list.func}
    named = {a.func.name for node in program.nodes for a in node.attr.values()}
    assert not procedures & named


def test_a_program_carries_each_reachable_subgraph_once():
    power = define_power(tf.Variable(2.0))
    define_power(tf.Variable(3.0))
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(power(n, 1.0) + power(n + 1, 2.0))
    program = program_of(f, INT)
    assert list(program.root.attr["names"].list.s) == [b"f", b"power"]


def test_the_root_op_has_the_options():
    options = rtf.Options(max_depth=7, max_activations=9)
    with rtf.SubGraph("f", options=options) as f:
        f.output(f.input(tf.int32))
    root = program_of(f, INT).root
    assert (root.attr["max_depth"].i, root.attr["max_activations"].i) == (7, 9)


def test_call_sites_of_a_procedure_count_up_from_zero():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        three = lambda: f(n - 1) + tf.cond(n < 5, lambda: f(n - 2), lambda: f(n - 3))  # noqa: E731
        f.output(tf.cond(n < 1, lambda: n, three))
    calls = program_of(f, INT).of_type("StatelessRecursiveCall")
    assert sorted(call.attr["site"].i for call in calls) == [0, 1, 2]


def test_only_calls_in_loops_are_repeated():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        step = lambda k: (k + 1 + 0 * f(0),)  # noqa: E731
        loop = lambda: tf.while_loop(lambda k: k < n, step, (0,))[0] + f(0)  # noqa: E731
        f.output(tf.cond(n < 1, lambda: n, loop))
    calls = program_of(f, INT).of_type("StatelessRecursiveCall")
    assert sorted(call.attr["repeated"].b for call in calls) == [False, True]


# --- Inference and training


def trace_gradient(weight, power):
    def gradient(n, x):
        with tf.GradientTape() as tape:
            y = power(n, x)
        return tape.gradient(y, weight)

    return trace(gradient, INT, FLOAT)


def test_inference_keeps_nothing():
    program = program_of(define_power(tf.Variable(2.0)), INT, FLOAT)
    assert not program.root.attr["keep"].b
    assert "RecursiveKeep" not in program.types()


def test_training_keeps_what_the_gradient_reads():
    weight = tf.Variable(2.0)
    program = ClosedProgram(trace_gradient(weight, define_power(weight)))
    assert program.root.attr["keep"].b
    assert "RecursiveKeep" in program.types()


def test_a_root_call_under_a_tape_that_asks_for_nothing_keeps_nothing():
    weight = tf.Variable(2.0)
    power = define_power(weight)

    def run(n, x):
        with tf.GradientTape():
            return power(n, x)

    assert not ClosedProgram(trace(run, INT, FLOAT)).root.attr["keep"].b


def test_training_does_not_change_what_inference_runs():
    weight = tf.Variable(2.0)
    power = define_power(weight)
    trace_gradient(weight, power)
    program = program_of(power, INT, FLOAT)
    assert not program.root.attr["keep"].b
    assert "RecursiveKeep" not in program.types()


def test_gradient_calls_of_a_program_that_only_reads_do_not_wait():
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        both = lambda: f(n - 1, x) * f(n - 2, x)  # noqa: E731
        f.output(tf.cond(n < 2, lambda: tf.sin(x), both))

    def gradient(n, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(n, x)
        return tape.gradient(y, x)

    program = ClosedProgram(trace(gradient, INT, FLOAT), "RecursiveInvokeGradient")
    calls = program.of_type("RecursiveCallGradient")
    names = {f"^{call.name}" for call in calls}
    assert len(calls) == 2
    assert not any(names & set(control_inputs(call)) for call in calls)


# --- What runs at once


def meet(parties):
    """Returns a function that waits until that many calls of it run at once."""
    barrier = threading.Barrier(parties, timeout=20)

    def wait(n):
        barrier.wait()
        return n

    def op(n):
        met = tf.numpy_function(wait, [n], tf.int32, stateful=False)
        return tf.ensure_shape(met, [])

    return op


def test_two_calls_of_one_body_run_at_once():
    assert int(define_fib(leaf=meet(2))(2)) == 1


def test_calls_in_different_branches_of_the_tree_run_at_once():
    with rtf.SubGraph("f") as f:
        depth, n = f.input(tf.int32), f.input(tf.int32)
        # The left child goes down, the right one waits for it to get there.
        left = lambda: f(depth - 1, n)  # noqa: E731
        wait = meet(2)
        both = lambda: tf.cond(  # noqa: E731
            tf.equal(depth, 3), lambda: left() + wait(n), left
        )
        f.output(tf.cond(depth < 1, lambda: wait(n + 1), both))
    assert int(f(3, 10)) == 21


def test_rows_of_a_map_run_at_once():
    wait = meet(2)
    with rtf.SubGraph("f") as f:
        f.output(wait(f.input(tf.int32)))
    assert f.map([5, 7]).numpy().tolist() == [5, 7]


def run_in_threads(functions):
    results = [None] * len(functions)

    def run(i):
        results[i] = functions[i]()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_steps_of_two_threads_are_in_flight_at_once():
    fib = define_fib(leaf=meet(2))
    with rtf.SubGraph("f") as f:
        f.output(fib(f.input(tf.int32)))
    concrete = trace(f, INT)
    one, other = (lambda: int(concrete(tf.constant(1))) for _ in range(2))
    assert run_in_threads([one, other]) == [1, 1]


def test_steps_in_flight_do_not_meet():
    fib = trace(define_fib(), INT)
    expected = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]

    def steps():
        return [int(fib(tf.constant(n))) for n in range(12) for _ in range(5)]

    found = run_in_threads([steps] * 8)
    assert found == [[x for x in expected for _ in range(5)]] * 8


def test_training_steps_in_flight_do_not_meet():
    weight = tf.Variable(2.0)
    gradient = trace_gradient(weight, define_power(weight))

    def steps_from(n):
        args = tf.constant(n), tf.constant(1.0)
        return lambda: [float(gradient(*args)) for _ in range(30)]

    found = run_in_threads([steps_from(n) for n in range(1, 9)])
    np.testing.assert_allclose(found, [[n * 2 ** (n - 1)] * 30 for n in range(1, 9)])


def test_a_subgraph_is_first_called_by_many_threads():
    fib = define_fib()
    assert run_in_threads([lambda: int(fib(12))] * 8) == [144] * 8


# --- What is left behind


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
    """Returns by how many megabytes the second half of some programs grows."""
    weight = tf.Variable(2.0)
    for _half in range(2):
        before = megabytes()
        for _ in range(int(programs) // 2):
            run_a_program(globals()[call], weight)
        grown = megabytes() - before
    return grown


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


def in_own_process(measure, *args):
    """Returns what `measure` does, where no other test moves the memory."""
    done = subprocess.run(
        [sys.executable, __file__, measure.__name__, *args],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parents[2])},
    )
    return float(done.stdout.split()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("call", [call_eagerly, call_for_a_gradient])
def test_memory_is_flat_over_programs_that_are_dropped(call):
    # Half of them would cost 150 MB if their functions stayed; an allocator is noisy.
    assert in_own_process(growth_over_programs, call.__name__, "500") < 20


def test_memory_is_flat_over_calls_of_one_program():
    assert in_own_process(growth_over_calls) < 5


def test_memory_is_flat_over_training_steps():
    assert in_own_process(growth_over_training_steps) < 5


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


if __name__ == "__main__":
    measure, *arguments = sys.argv[1:]
    sys.stdout.write(f"{globals()[measure](*arguments)}\n")
