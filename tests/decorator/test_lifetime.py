"""What decorated functions, their instances and graphs leave behind."""

import gc
import weakref

import pytest
import tensorflow as tf
from tensorflow.python.eager import context  # noqa: TID251

import recursive_tf as rtf
from tests.decorator.branches import define_base_first

pytestmark = pytest.mark.every_executor


class Plain:
    def __init__(self):
        self.weight = tf.Variable(2.0)

    @rtf.subgraph
    def power(self, n):
        if n < 1:
            return 1.0
        return self.weight * self.power(n - 1)


class Module(tf.Module):
    def __init__(self):
        super().__init__()
        self.weight = tf.Variable(2.0)

    power = rtf.subgraph(Plain.power.__wrapped__)


class Layer(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(2, activation="relu")
        # In a body, which makes its variables where they are used, it is not batched.
        self.dense.build([None, 2])

    @rtf.subgraph
    def power(self, n):
        if n < 1:
            return tf.ones([1, 2])
        return self.dense(self.power(n - 1))

    def call(self, n):
        return self.power(n)


def differentiate(instance):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(instance.power(3))
    variables = tape.watched_variables()
    assert all(g is not None for g in tape.gradient(y, variables))


def call_in_a_function(instance):
    tf.function(lambda n: instance.power(n))(tf.constant(2))


USES = [lambda instance: instance.power(2), differentiate, call_in_a_function]


@pytest.mark.parametrize("use", USES, ids=["call", "gradient", "function"])
@pytest.mark.parametrize("cls", [Plain, Module, Layer])
def test_an_instance_dies_with_its_subgraphs(cls, use):
    instance = cls()
    use(instance)
    dropped = [weakref.ref(instance), *map(weakref.ref, instance.power.subgraphs)]
    del instance
    gc.collect()  # The instance,
    gc.collect()  # and what was kept for it.
    assert [reference() for reference in dropped] == [None] * len(dropped)
    assert cls.power.subgraphs == []


def count_functions():
    gc.collect()
    return len(context.context().list_function_names())


@pytest.mark.parametrize("use", USES, ids=["call", "gradient", "function"])
def test_functions_of_dropped_instances_are_released(use):
    use(Plain())
    before = count_functions()
    for _ in range(3):
        use(Plain())
    assert count_functions() == before


def test_a_decorated_function_dies():
    fib = define_base_first(rtf.subgraph)
    fib(5)
    dropped = [weakref.ref(fib), weakref.ref(fib.subgraphs[0])]
    del fib
    gc.collect()
    assert [reference() for reference in dropped] == [None, None]


def test_a_function_around_it_dies_with_its_subgraphs():
    seen = []

    @rtf.subgraph
    def f(n):
        if n < 1:
            return 0
        return f(n - 1)

    def run(n):
        result = f(n)
        seen.append(weakref.ref(f.subgraphs[0]))
        return result

    function = tf.function(run)
    function(tf.constant(2))
    assert seen[0]() is not None
    del function
    gc.collect()
    assert seen[0]() is None


def test_an_argument_that_is_an_object_dies():
    class Scale:
        by = 3

    @rtf.subgraph
    def f(scale, n):
        if n < 1:
            return 0
        return f(scale, n - 1) + scale.by

    scale = Scale()
    assert int(f(scale, 3)) == 9
    dropped = weakref.ref(scale)
    del scale
    gc.collect()
    assert dropped() is None
    assert f.subgraphs == []


@pytest.mark.falls_back("an unknown shape")
def test_what_a_trace_tried_is_dropped():
    made = []

    @rtf.subgraph
    def f(n):
        made.append(weakref.ref(n.graph))
        if n < 1:
            return tf.zeros([1])
        return tf.concat([f(n - 1), [1.0]], 0)

    f(3)
    gc.collect()
    assert [reference() is None for reference in made] == [True, True, False]
