"""The closed program: what its ops are."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib, define_power
from tests.helpers.tracing import FLOAT, INT, trace, trace_gradient

pytestmark = pytest.mark.executor("dataflow")


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


def test_random_numbers_are_no_effect():
    drop = tf.keras.layers.Dropout(0.5)
    leaf = lambda n: n * tf.cast(drop(tf.ones([]), training=True), n.dtype)  # noqa: E731
    program = program_of(define_fib(leaf=leaf), INT)
    assert len(program.of_type("StatelessRecursiveCall")) == 2
    assert not {"AssignVariableOp", "ReadVariableOp"} & program.types()


# --- Programs with effects


EFFECTS = {
    "assign": lambda state, n: state.assign_add(n),
    "print": lambda state, n: tf.print(n, output_stream="file:///dev/null"),
}


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=EFFECTS)
def test_calls_of_a_program_with_effects_are_stateful_and_ordered(effect):
    state = tf.Variable(0)

    def leaf(n):
        effect(state, n)
        return n

    first, second = program_of(define_fib(leaf=leaf), INT).of_type("RecursiveCall")
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
