"""What a process knows of programs: how much, for how long, and by many threads."""

import gc
import weakref

import pytest
import tensorflow as tf

from recursive_tf.python.program.known_programs import KnownPrograms
from tests.helpers.known_programs import (
    count_down,
    define_equal_power,
    know_only,
    trained,
)
from tests.helpers.threads import run_in_threads

WAYS = pytest.mark.parametrize("chosen", ["batched", "dataflow"])


def test_what_is_kept_is_bounded_and_goes_by_age(monkeypatch, known):
    one_size = size_of_a_program(known)
    bounded = know_only(monkeypatch, KnownPrograms(most_ops=3 * one_size))

    def ask(constant):
        before = bounded.counts().found
        assert float(count_down(lambda x: x + constant)(1, 1.0)) == 1.0 + constant
        assert bounded.counts().ops <= 3 * one_size
        return bounded.counts().found > before

    assert not any(map(ask, (1.0, 2.0, 3.0)))
    assert ask(1.0)
    assert not ask(4.0)  # 2 was not asked for longest.
    assert ask(1.0)
    assert not ask(2.0)
    assert bounded.counts().programs == 3


def size_of_a_program(known):
    before = known.counts().ops
    count_down(lambda x: x + 0.0)(1, 1.0)
    return known.counts().ops - before


def test_a_program_that_is_too_large_is_not_kept(monkeypatch):
    small = know_only(monkeypatch, KnownPrograms(most_ops=3))
    for _ in range(2):
        assert float(count_down(lambda x: x + 1.0)(1, 1.0)) == 2.0
    assert small.counts() == (0, 0, 0, 0)


def use_and_drop(executor):
    """Returns references to what a SubGraph used, after a step of training."""
    weight = tf.Variable(tf.fill([3], 2.0))
    around = tf.constant([1.0, 2.0, 3.0])

    @tf.function(autograph=False)
    def step(n):
        local = around * 2.0
        f = count_down(
            lambda x: x * tf.reduce_sum(weight * local + around), executor=executor
        )
        bodies.append(weakref.ref(f._body))
        with tf.GradientTape() as tape:
            y = f(n, 1.0)
        return tape.gradient(y, weight)

    bodies = []
    step(tf.constant(2))
    graph = step.get_concrete_function(tf.TensorSpec([], tf.int32)).graph
    objects = [weight, around, graph]
    return [*map(weakref.ref, objects), *bodies]


@WAYS
def test_a_program_that_is_kept_holds_nothing_of_who_used_it(known, chosen):
    dropped = use_and_drop(chosen)
    gc.collect()
    assert known.counts().programs == 1
    assert [reference() for reference in dropped] == [None] * len(dropped)


@WAYS
def test_one_that_finds_a_program_does_not_hold_who_made_it(known, chosen):
    dropped = use_and_drop(chosen)
    use_and_drop(chosen)
    assert known.counts().found >= 1
    gc.collect()
    assert [reference() for reference in dropped] == [None] * len(dropped)


@WAYS
def test_many_threads_share_a_program(known, chosen):
    weights = [tf.Variable(float(k)) for k in range(1, 7)]

    def train(k):
        weight = weights[k]
        value = float(weight)
        for _ in range(3):
            found = trained(define_equal_power(weight, executor=chosen), weight)
            assert found == [2 * value**3, value**3, 6 * value**2]

    run_in_threads(train, len(weights))
    counts = known.counts()
    assert counts.programs == 1
    assert counts.added + counts.found == 18
