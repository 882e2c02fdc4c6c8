"""`rtf.explain` of functions: traced, loaded, decorated; and what it cannot explain."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.subgraphs import define_fib, define_power
from tests.helpers.tracing import INT, trace
from tests.reports.explained import by_procedure, define_balanced, define_timed

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
    assert "explained.py:" in first.reasons[0]
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
    assert re.search(r"balanced/leaf explained\.py:\d+", str(explanation))
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
    assert "explained.py:" in explanation.reasons[0]
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
