"""`rtf.explain` says what runs a program, why, and what its last run did."""

import gc
import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching import compilation
from recursive_tf.python.reports.watch import Watch
from tests.batching.tree import define_tree_lstm
from tests.helpers.subgraphs import define_fib, define_power
from tests.helpers.tracing import INT, trace


def define_balanced(weight=2.0):
    """Returns a SubGraph that calls itself twice at each of so many levels."""
    with rtf.SubGraph("balanced") as balanced:
        depth, x = balanced.input(tf.int32), balanced.input(tf.float32)

        def leaf():
            return tf.sin(x)

        def internal():
            return weight * (balanced(depth - 1, x) + balanced(depth - 1, -x))

        balanced.output(tf.cond(depth < 1, leaf, internal))
    return balanced


COUNT = tf.Variable(0.0)


def define_timed(name="timed"):
    """Returns a SubGraph that cannot be batched."""
    with rtf.SubGraph(name) as timed:
        n = timed.input(tf.int32)
        more = lambda: timed(n - 1) + tf.timestamp()  # noqa: E731
        timed.output(tf.cond(n < 1, tf.timestamp, more))
    return timed


def by_procedure(numbers):
    """Returns what is said of blocks without the places, which move with this file."""
    return {name.partition(" ")[0]: number for name, number in numbers.items()}


# --- Before a run


def test_a_program_is_explained_before_it_is_called():
    explanation = rtf.explain(define_fib())
    assert (explanation.name, explanation.executor) == ("fib", "batched")
    assert explanation.reasons == []
    assert explanation.launches is explanation.rows_per_launch is None
    assert explanation.lower_bound is explanation.seconds is None
    assert explanation.bytes_moved is explanation.peak_bytes is None
    assert explanation.forward is explanation.backward is None
    assert "did not run since" in str(explanation)


def test_an_explanation_and_the_first_call_compile_once(monkeypatch):
    compiled = []
    make = compilation.Compilation
    monkeypatch.setattr(
        compilation, "Compilation", lambda *args: compiled.append(1) or make(*args)
    )
    fib = define_fib()
    explanation = rtf.explain(fib)
    assert int(fib(7)) == 13
    assert explanation.launches is not None
    assert len(compiled) == 1


def test_the_program_in_words():
    words = rtf.explain(define_balanced()).program.describe()
    assert re.sub(r"\w+\.py:\d+", "HERE", words) == "\n".join(
        [
            "balanced",
            "  runs 'balanced HERE': Less, Sub, Neg",
            "  goes on in balanced/internal or balanced/leaf",
            "balanced/internal",
            "  calls balanced, balanced",
            "  runs 'balanced/internal HERE': AddV2, Mul",
            "balanced/leaf",
            "  runs 'balanced/leaf HERE': Sin",
        ]
    )


def test_pushes_are_in_the_words():
    assert "  pushes 'h'" in rtf.explain(define_tree_lstm()).program.describe()


# --- After a run


def test_a_balanced_tree_needs_no_more_launches_than_the_lower_bound():
    balanced = define_balanced()
    explanation = rtf.explain(balanced)
    balanced(5, 1.0)
    launches = by_procedure(explanation.launches)
    assert launches == {"balanced": 6, "balanced/internal": 5, "balanced/leaf": 1}
    assert sum(launches.values()) == explanation.lower_bound


def test_rows_per_launch():
    balanced = define_balanced()
    explanation = rtf.explain(balanced)
    balanced.map([3, 3], [0.5, 1.0])
    assert by_procedure(explanation.rows_per_launch) == {
        "balanced": 2 * 15 / 4,
        "balanced/internal": 2 * 7 / 3,
        "balanced/leaf": 2 * 8,
    }


def test_time_and_memory_are_reported():
    balanced = define_balanced()
    explanation = rtf.explain(balanced)
    balanced(6, 1.0)
    assert set(explanation.seconds) == {"forward"}
    parts = explanation.seconds["forward"]
    assert set(parts) == {"schedule", "gather", "blocks", "deferred"}
    assert parts["schedule"] > 0
    assert parts["blocks"] > 0
    assert explanation.peak_bytes >= 2**6 * 4
    assert explanation.bytes_moved > 0


def test_the_backward_pass_is_reported():
    weight = tf.Variable(2.0)
    balanced = define_balanced(weight)
    explanation = rtf.explain(balanced)
    with tf.GradientTape() as tape:
        y = balanced(4, 1.0)
    assert explanation.backward is None
    tape.gradient(y, weight)
    assert sum(explanation.backward.launches) > 0
    assert explanation.seconds["backward"]["deferred"] > 0
    assert re.search(
        r"launches +rows each +shared +backward +compiled +peak +block",
        str(explanation),
    )


def test_what_is_printed_has_the_launches_and_the_lines():
    fib = define_fib()
    explanation = rtf.explain(fib)
    fib(6)
    text = str(explanation)
    assert text == repr(explanation)
    assert "runs in the batched executor, policy 'critical_path'" in text
    assert "Last run: 11 launches; the least that there can be is 11." in text
    assert re.search(r"\n +6 +4\.2 +0% +yes {8}fib subgraphs\.py:\d+\n", text)


def test_the_last_run_is_the_one_that_counts():
    fib = define_fib()
    explanation = rtf.explain(fib)
    fib(9)
    fib(3)
    assert by_procedure(explanation.launches)["fib"] == 3


def test_a_call_in_a_function_is_seen_by_an_explanation_of_the_subgraph():
    fib = define_fib()
    explanation = rtf.explain(fib)
    tf.function(fib)(tf.constant(5))
    assert by_procedure(explanation.launches)["fib"] == 5


# --- Watching


def test_two_explanations_of_a_program_see_the_same_runs():
    fib = define_fib()
    first, second = rtf.explain(fib), rtf.explain(fib)
    fib(5)
    assert first.launches == second.launches
    first.close()
    assert first.launches is None
    fib(8)
    assert by_procedure(second.launches)["fib"] == 8


def test_a_collected_explanation_watches_no_longer():
    fib = define_fib()
    explanation = rtf.explain(fib)
    key = explanation.program.key
    del explanation
    gc.collect()
    fib(5)
    assert Watch(key).last(backward=False) is None


def test_an_explanation_that_is_collected_while_a_function_is_traced_adds_nothing():
    explanations = [rtf.explain(define_fib())]

    def forget(n):
        explanations.clear()
        gc.collect()
        return n

    types = {op.type for op in trace(forget, INT).graph.get_operations()}
    assert types <= {"Placeholder", "Identity", "NoOp"}


# --- Programs that are not batched


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
    assert f"test_explain.py:{body.__code__.co_firstlineno}" in found
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


# --- Functions


def test_a_function_with_one_program_gives_its_explanation():
    fib = define_fib()
    function = tf.function(lambda n: fib(n) + fib.map([n, n])[0])
    function(tf.constant(3))
    explanation = rtf.explain(function)
    assert isinstance(explanation, rtf.Explanation)
    function(tf.constant(5))
    assert by_procedure(explanation.launches)["fib"] == 5


def test_root_calls_are_found_in_all_that_a_function_holds():
    names = ("inner", "looped", "true", "mapped")
    inner, looped, true, mapped = (define_fib(name) for name in names)
    nested = tf.function(lambda n: inner(n))

    def function(n):
        turns = tf.while_loop(lambda i: i < 2, lambda i: [i + looped(i) + 1], [0])[0]
        numbers = tf.data.Dataset.range(3).map(lambda k: mapped(tf.cast(k, tf.int32)))
        total = numbers.reduce(0, lambda a, b: a + b)
        return nested(n) + turns + tf.cond(n > 0, lambda: true(n), lambda: 0) + total

    explanations = rtf.explain(trace(function, INT))
    assert isinstance(explanations, rtf.Explanations)
    assert sorted(e.name for e in explanations) == sorted(names)
    assert str(explanations).count("runs in the batched executor") == len(names)
    explanations.close()


@pytest.mark.falls_back("it has an effect")
def test_a_function_tells_why_its_programs_are_not_batched():
    timed, chosen = define_timed(), define_fib(executor="dataflow")
    concrete = trace(lambda n: timed(n) + tf.cast(chosen(n), tf.float64), INT)
    first, second = rtf.explain(concrete)
    assert "Timestamp" in first.reasons[0]
    assert "test_explain.py:" in first.reasons[0]
    assert second.reasons == ['executor="dataflow" was chosen.']


def test_a_training_step_in_the_dataflow_executor():
    weight = tf.Variable(2.0)
    with rtf.SubGraph("power", executor="dataflow") as power:
        n = power.input(tf.int32)
        power.output(tf.cond(n < 1, lambda: 1.0, lambda: weight * power(n - 1)))

    def step(n):
        with tf.GradientTape() as tape:
            y = power(n)
        return tape.gradient(y, weight)

    explanation = rtf.explain(trace(step, INT))
    assert explanation.reasons == ['executor="dataflow" was chosen.']
    assert "call#0 of power at " in explanation.program.describe()


def test_a_function_that_creates_variables_when_it_is_traced_has_one_program():
    made = []

    @tf.function
    def function(n):
        if not made:
            made.append(tf.Variable(2.0))
        return define_power(made[0])(n, 1.0)

    function(tf.constant(3))
    assert isinstance(rtf.explain(function), rtf.Explanation)


def test_a_function_with_a_signature_need_not_have_been_called():
    fib = define_fib()
    function = tf.function(fib, input_signature=[INT])
    assert rtf.explain(function).name == "fib"


# --- Loaded functions


@pytest.fixture
def loaded(tmp_path):
    weight = tf.Variable(2.0)
    balanced, timed = define_balanced(weight), define_timed()
    module = tf.Module()
    module.weight = weight
    module.balanced = tf.function(
        lambda n: balanced(n, 1.0), autograph=False, input_signature=[INT]
    )
    module.timed = tf.function(timed, input_signature=[INT])
    tf.saved_model.save(module, tmp_path, signatures={"balanced": module.balanced})
    return tf.saved_model.load(tmp_path)


@pytest.mark.falls_back("it has an effect")
def test_a_loaded_program_is_explained_with_the_lines_that_it_had(loaded):
    explanation = rtf.explain(loaded.balanced)
    assert explanation.executor == "batched"
    assert re.search(r"balanced/leaf test_explain\.py:\d+", str(explanation))
    loaded.balanced(tf.constant(4))
    assert by_procedure(explanation.launches)["balanced"] == 5
    assert sum(explanation.launches.values()) == explanation.lower_bound


@pytest.mark.falls_back("it has an effect")
def test_a_signature_of_a_loaded_model_is_explained(loaded):
    assert rtf.explain(loaded.signatures["balanced"]).executor == "batched"


@pytest.mark.falls_back("it has an effect")
def test_a_loaded_program_tells_why_it_is_not_batched(loaded):
    explanation = rtf.explain(loaded.timed)
    assert "Timestamp" in explanation.reasons[0]
    assert "test_explain.py:" in explanation.reasons[0]
    # The line of the program is not known any more, and that of the loading is none.
    assert explanation.program.describe() == "timed\n  call#0 of timed"


# --- Errors


def test_a_function_that_was_not_traced_is_an_error():
    function = tf.function(define_fib())
    with pytest.raises(rtf.SubGraphError, match=r"not traced yet\. Call it first"):
        rtf.explain(function)


def test_a_function_without_a_root_call_is_an_error():
    def double(n):
        return 2 * n

    with pytest.raises(rtf.SubGraphError, match="makes no root call"):
        rtf.explain(trace(double, INT))


def test_what_is_no_function_is_an_error():
    with pytest.raises(TypeError, match="nothing to explain about 3"):
        rtf.explain(3)


def test_a_subgraph_without_a_body_is_an_error():
    with pytest.raises(rtf.SubGraphError, match="has no body"):
        rtf.explain(rtf.SubGraph("f"))


def test_an_input_whose_shape_varies_is_named():
    with rtf.SubGraph("f") as f:
        f.output(tf.reduce_sum(f.input(tf.float32, [None], name="words")))
    (reason,) = rtf.explain(f).reasons
    assert re.search(r"Input 'words' at .*test_explain.py:\d+: its shape", reason)


def test_a_decorated_function_is_explained():
    @rtf.subgraph
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    with pytest.raises(rtf.SubGraphError, match="'fib' was not called yet"):
        rtf.explain(fib)
    assert int(fib(6)) == 8
    explanation = rtf.explain(fib)
    assert explanation.executor == "batched"
    assert int(fib(6)) == 8
    assert sum(explanation.launches.values()) == 11
    assert int(fib(tf.constant(6, tf.int64))) == 8
    assert len(rtf.explain(fib)) == 2


def test_a_loop_needs_a_launch_for_each_condition_and_each_turn():
    with rtf.SubGraph("count") as count:
        n = count.input(tf.int32)
        start = (n, tf.constant(0))
        turn = lambda i, total: (i - 1, total + 2)  # noqa: E731
        count.output(tf.while_loop(lambda i, _: i > 0, turn, start)[1])
    explanation = rtf.explain(count)
    assert count(55).numpy() == 110
    assert "Last run: 111 launches; the least that there can be is 111." in str(
        explanation
    )
