"""`rtf.explain` says what a program is, and what its last run did."""

import gc
import re

import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.batching import compilation
from recursive_tf.python.reports.watch import Watch
from tests.batching.tree import define_tree_lstm
from tests.helpers.subgraphs import define_fib
from tests.helpers.tracing import INT, trace
from tests.reports.explained import by_procedure, define_balanced

# --- Before a run


def test_a_program_is_explained_before_it_is_called():
    explanation = rtf.explain(define_fib())
    assert (explanation.name, explanation.executor) == ("fib", "batched")
    assert explanation.reasons == []
    assert explanation.launches is explanation.rows_per_launch is None
    assert explanation.lower_bound is explanation.seconds is None
    assert explanation.bytes_moved is explanation.peak_bytes is None
    assert explanation.forward is explanation.backward is None
    assert "did not run yet" in str(explanation)


def test_an_explanation_and_the_first_call_compile_once(monkeypatch, known):
    compiled = []
    make = compilation.Compilation
    monkeypatch.setattr(
        compilation, "Compilation", lambda *args: compiled.append(1) or make(*args)
    )
    fib = define_fib()
    explanation = rtf.explain(fib)
    assert int(fib(7)) == 13
    assert explanation.launches is not None
    assert len(compiled) == known.counts().added == 1


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


# --- Of a run before the explanation


def test_a_run_before_the_explanation_is_shown():
    weight = tf.Variable(2.0)
    balanced = define_balanced(weight)
    with tf.GradientTape() as tape:
        y = balanced(5, 1.0)
    tape.gradient(y, weight)
    explanation = rtf.explain(balanced)
    launches = {"balanced": 6, "balanced/internal": 5, "balanced/leaf": 1}
    assert by_procedure(explanation.launches) == launches
    assert by_procedure(explanation.rows_per_launch)["balanced/leaf"] == 32
    assert explanation.seconds["forward"]["blocks"] > 0
    assert explanation.seconds["backward"]["blocks"] > 0
    assert explanation.bytes_moved > 0
    assert explanation.peak_bytes > 0
    assert explanation.not_compiled == {}
    assert re.search(r"Last run: 12 launches\.\n", str(explanation))


def test_what_costs_time_is_counted_from_the_explanation_on():
    balanced = define_balanced()
    balanced(5, 1.0)
    explanation = rtf.explain(balanced)
    assert explanation.lower_bound is None
    assert explanation.peak == {}
    assert "The next run also counts the least launches" in str(explanation)
    balanced(4, 1.0)
    assert explanation.lower_bound == 10
    assert "The next run" not in str(explanation)


def test_a_block_that_was_not_compiled_before_the_explanation_is_named():
    options = rtf.Options(blocks="tensorflow")
    with rtf.SubGraph("fib", options=options) as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    fib(5)
    explanation = rtf.explain(fib)
    reasons = explanation.not_compiled.values()
    assert len(reasons) == len(explanation.launches)
    assert all("run it again" in why for why in reasons)
    fib(5)
    assert all(
        'blocks="tensorflow"' in why for why in explanation.not_compiled.values()
    )


def test_a_function_that_ran_shows_its_last_run_too():
    fib = define_fib()
    step = tf.function(lambda n: fib(n))
    step(tf.constant(9))
    step(tf.constant(5))
    assert by_procedure(rtf.explain(step).launches)["fib"] == 5


def test_a_run_is_forgotten_with_its_program():
    fib = define_fib()
    fib(5)
    key = rtf.explain(fib).program.key
    del fib
    gc.collect()
    assert Watch(key).last(backward=False) is None


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
    assert Watch(key).last(backward=False).least_launches is None


def test_an_explanation_that_is_collected_while_a_function_is_traced_adds_nothing():
    explanations = [rtf.explain(define_fib())]

    def forget(n):
        explanations.clear()
        gc.collect()
        return n

    types = {op.type for op in trace(forget, INT).graph.get_operations()}
    assert types <= {"Placeholder", "Identity", "NoOp"}
