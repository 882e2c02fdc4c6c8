"""A program that is equal to one that the process knows is not compiled again."""

import re

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import recursive_tf as rtf
from recursive_tf.python.batching import compilation
from tests.helpers.known_programs import (
    content_of,
    count_down,
    define_equal_power,
    trained,
)

WAYS = pytest.mark.parametrize("chosen", ["batched", "dataflow"])


@WAYS
def test_an_equal_program_has_its_own_captures(known, chosen):
    weights = [tf.Variable(value) for value in (3.0, 5.0)]
    found = [trained(define_equal_power(w, executor=chosen), w) for w in weights]
    assert found == [[54.0, 27.0, 54.0], [250.0, 125.0, 150.0]]
    assert (known.counts().added, known.counts().found) == (1, 1)


def count_calls(monkeypatch, module, name):
    """Returns a list that grows with each call of a function of a module."""
    calls, function = [], getattr(module, name)

    def counting(*args):
        calls.append(name)
        return function(*args)

    monkeypatch.setattr(module, name, counting)
    return calls


def test_what_is_made_of_a_program_is_made_once(known, monkeypatch):
    names = "vectorize", "make_training_block"
    counted = [count_calls(monkeypatch, compilation, name) for name in names]
    weight = tf.Variable(3.0)
    trained(define_equal_power(weight), weight)
    first = [len(calls) for calls in counted]
    trained(define_equal_power(weight), weight)
    assert [len(calls) for calls in counted] == first
    assert min(first) > 0


@WAYS
def test_a_second_gradient_is_of_its_own_captures(known, chosen):
    def second(value):
        weight = tf.Variable(value)
        power = define_equal_power(weight, executor=chosen)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = power(3, tf.constant(2.0))
            slope = tape.gradient(y, weight)
        return float(outer.gradient(slope, weight))

    assert [second(3.0), second(5.0)] == [36.0, 60.0]
    assert known.counts().found == 1


@WAYS
def test_names_are_of_the_subgraph_that_is_called(known, chosen):
    weight = tf.Variable(3.0)
    one, other = (define_equal_power(weight, name, chosen) for name in ("one", "other"))
    assert float(one(2, 1.0)) == float(other(2, 1.0)) == 9.0
    assert known.counts().found == 1
    for name, subgraph in (("one", one), ("other", other)):
        # Whole words: paths of files are among them.
        words = set(re.findall(r"\w+", str(rtf.explain(subgraph))))
        assert words & {"one", "other"} == {name}


def test_names_of_branches_are_as_if_it_was_compiled_alone(known):
    weight = tf.Variable(3.0)
    names = ["power", "power/false", "with (2)"]
    words = [str(rtf.explain(define_equal_power(weight, name))) for name in names]
    assert known.counts().found == 2
    for name, found in zip(names, words, strict=True):
        assert found.replace(name, "power") == words[0]


def test_runs_are_counted_for_each_subgraph(known):
    weight = tf.Variable(3.0)
    one, other = define_equal_power(weight), define_equal_power(weight)
    explained = [rtf.explain(one), rtf.explain(other)]
    one(2, 1.0)
    assert known.counts().found == 1
    counted = ["not run" in str(e).lower() or "no run" in str(e) for e in explained]
    assert counted[0] != counted[1]


def fails_at(bad, name):
    with rtf.SubGraph(name, executor="batched") as walk:
        n = walk.input(tf.int32)
        tf.debugging.assert_none_equal(n, bad, message="bad")
        walk.output(tf.cond(n < 1, lambda: 0, lambda: walk(n - 1)))
    return walk


def test_an_error_names_the_subgraph_that_is_called(known):
    bad = tf.Variable(5)
    for name in ("one", "other"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"'{name}'"):
            fails_at(bad, name)(6)
    assert known.counts().found == 1


def test_choices_are_of_the_root_call(known):
    weight = tf.Variable(3.0)
    chosen = [
        rtf.Options(),
        rtf.Options(policy="depth", share_rows=False),
        rtf.Options(blocks="tensorflow", max_depth=2),
    ]
    made = [define_equal_power(weight, options=options) for options in chosen]
    ops = [root_op_of(power) for power in made]
    assert known.counts().found == 2
    assert [op.get_attr("policy").decode() for op in ops] == [
        *("critical_path", "depth", "critical_path")
    ]
    assert [op.get_attr("block_kind").decode() for op in ops] == [
        *("auto", "auto", "tensorflow")
    ]
    assert float(made[1](3, 1.0)) == 27.0
    with pytest.raises(tf.errors.ResourceExhaustedError):
        made[2](3, 1.0)


def root_op_of(subgraph):
    traced = tf.function(lambda: subgraph(3, 1.0), autograph=False)
    ops = traced.get_concrete_function().graph.get_operations()
    return next(op for op in ops if op.type.startswith("RecursiveInvoke"))


def test_both_executors_take_the_same_program(known):
    weight = tf.Variable(3.0)
    for executor in ("batched", "dataflow", "auto"):
        assert trained(define_equal_power(weight, executor=executor), weight)[0] == 54.0
    assert known.counts().found == 2


def test_a_function_that_is_traced_again_finds_its_program(known):
    weight = tf.Variable([1.0, 2.0])

    @tf.function(autograph=False)
    def run(rows):
        with rtf.SubGraph("f", executor="batched") as f:
            x = f.input(tf.TensorSpec([2]))
            f.output(x * weight)
        return f.map(rows)

    for size in (1, 2, 3):
        np.testing.assert_allclose(run(tf.ones([size, 2])), [[1.0, 2.0]] * size)
    assert (known.counts().added, known.counts().found) == (1, 2)


# Each pair is of one line, so that this is not what tells them apart.
NEARLY_EQUAL = {
    "constant": [lambda x, c=c: x * c for c in (2.0, 2.0000002)],
    "sign of zero": [lambda x, c=c: x / np.array(c, np.float32) for c in (0.0, -0.0)],
    "attribute": [lambda x, a=a: tf.nn.leaky_relu(x, a) for a in (0.1, 0.2)],
    "type of op": [lambda x, f=f: f(x) for f in (tf.sin, tf.cos)],
    "order": [lambda x, f=f: f(x, x * 2.0) for f in (tf.subtract, tf.multiply)],
    "shape": [
        lambda x, s=s: tf.reduce_sum(tf.broadcast_to(x, s)) for s in ([2, 3], [3, 2])
    ],
    "dtype": [
        lambda x, t=t: tf.cast(tf.cast(x, t), tf.float32) for t in (tf.int32, tf.int64)
    ],
    "static shape": [
        lambda x, s=s: tf.reduce_sum(tf.ensure_shape(tf.reshape(x, [-1]), s))
        for s in ([1], [None])
    ],
    "what is taken twice": [
        lambda x, k=k: tf.stack([x, x * 2.0, x * 3.0])[k] for k in (1, 2)
    ],
}


@pytest.mark.parametrize("what", NEARLY_EQUAL)
def test_programs_that_differ_never_share(what, known):
    one, other = (count_down(make) for make in NEARLY_EQUAL[what])
    assert content_of(one) != content_of(other)
    results = [float(f(2, 1.5)) for f in (one, other)]
    expected = [float(make(tf.constant(1.5))) for make in NEARLY_EQUAL[what]]
    np.testing.assert_array_equal(results, expected)
    assert (known.counts().added, known.counts().found) == (2, 0)


@pytest.mark.parametrize("what", NEARLY_EQUAL)
def test_programs_that_do_not_differ_are_equal(what):
    first, _ = NEARLY_EQUAL[what]
    assert content_of(count_down(first)) == content_of(count_down(first))


def test_a_variable_of_another_shape_is_another_argument():
    contents = set()
    for size in (2, 3):
        weight = tf.Variable(tf.ones([size]))
        contents.add(content_of(count_down(lambda x, w=weight: x * tf.reduce_sum(w))))
    assert len(contents) == 2


def test_what_is_captured_once_is_not_what_is_captured_twice():
    one, other = tf.Variable(2.0), tf.Variable(3.0)
    pairs = [(one, one), (one, other), (other, one)]
    contents = [content_of(count_down(lambda x, a=a, b=b: x * a + b)) for a, b in pairs]
    assert contents[0] != contents[1] == contents[2]


def test_lines_of_users_code_are_compared():
    one = count_down(lambda x: x * 2.0)
    other = count_down(lambda x: x * 2.0)
    assert content_of(one) != content_of(other)


def test_programs_are_equal_only_for_one_set_of_rules():
    f = count_down(lambda x: x * 2.0)
    assert content_of(f, compiler=0) != content_of(f, compiler=1)


def test_rules_for_a_while_make_programs_of_their_own(known):
    weight = tf.Variable(3.0)

    def doubled(block, _op, inputs):
        return [2.0 * block.all_rows(inputs[0]) * block.all_rows(inputs[1])]

    def run():
        return float(define_equal_power(weight)(1, 1.0))

    before = run()
    with rtf.register_vectorization("Mul", rule=doubled):
        within = run()
    after = run()
    assert [before, within, after] == [3.0, 6.0, 3.0]
    assert (known.counts().added, known.counts().found) == (2, 1)


def test_seeds_are_no_part_of_a_program(known):
    def drawn(seed):
        generator = tf.random.Generator.from_seed(seed)
        return float(count_down(lambda x: x * generator.uniform([]))(1, 1.0))

    one, other, again = drawn(1), drawn(2), drawn(1)
    assert one == again != other
    assert known.counts().found == 2


def clipped(limit):
    @tf.custom_gradient
    def identity(x):
        return tf.identity(x), lambda dy: tf.minimum(dy, limit)

    return identity


def test_gradients_of_users_are_never_shared(known):
    found = []
    for limit in (0.25, 0.5):
        f = count_down(clipped(limit))
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(1, x)
        found.append(float(tape.gradient(y, x)))
    assert found == [0.25, 0.5]
    assert known.counts() == (0, 0, 0, 0)


@pytest.mark.falls_back("Python is called")
def test_functions_of_python_are_never_shared(known):
    for factor in (2.0, 3.0):
        python = lambda x, c=factor: tf.py_function(  # noqa: E731
            lambda y: y * c, [x], tf.float32
        )
        shaped = lambda x, f=python: tf.ensure_shape(f(x), [])  # noqa: E731
        assert float(count_down(shaped)(1, 1.0)) == factor
    assert known.counts().found == 0


OPS = {
    "add": lambda x, c: x + c,
    "mul": lambda x, c: c * x,
    "leaky": lambda x, c: tf.nn.leaky_relu(x, c),
    "sum": lambda x, c: tf.reduce_sum(tf.fill([2], x)) + c,
    "silu": lambda x, c: tf.nn.silu(x, c),
    "while": lambda x, c: tf.while_loop(lambda y: y < c, lambda y: y + c, [x])[0],
    "if": lambda x, c: tf.cond(x < c, lambda: x, lambda: -x),
}
STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(OPS)), st.sampled_from([0.5, 1.0, 2.0])),
    min_size=1,
    max_size=4,
)


def in_steps(steps):
    def make(x):
        for name, constant in steps:
            x = OPS[name](x, constant)
        return x

    return count_down(make)


@given(STEPS, STEPS)
def test_programs_are_equal_if_and_only_if_they_are_made_alike(one, other):
    assert (content_of(in_steps(one)) == content_of(in_steps(other))) == (one == other)


def test_a_function_finds_what_was_called_eagerly(known):
    weight = tf.Variable(3.0)

    def run():
        @rtf.subgraph
        def power(n: tf.int32, x: tf.float32):
            if n < 1:
                return x
            return weight * power(n - 1, x)

        return power(2, 1.0)

    assert [float(f()) for f in (run, tf.function(run))] == [9.0, 9.0]
    assert (known.counts().added, known.counts().found) == (1, 1)


def test_names_of_ops_are_not_compared():
    def named(x, name):
        return tf.identity(x * 2.0, name)

    contents = [content_of(count_down(lambda x, n=n: named(x, n))) for n in "ab"]
    assert contents[0] == contents[1]
