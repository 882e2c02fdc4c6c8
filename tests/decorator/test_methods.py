"""A decorated function may be a method; each instance has its own SubGraphs."""

import dataclasses
from typing import NamedTuple

import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor


class Power:
    def __init__(self, weight):
        self.weight = tf.Variable(weight)

    @rtf.subgraph
    def power(self, n, scale=1.0):
        if n < 1:
            return scale
        return self.times(self.power(n - 1, scale))

    def times(self, x):
        return self.weight * x


def test_a_method_calls_itself():
    assert float(Power(2.0).power(3)) == 8


def test_a_method_takes_arguments_by_name():
    assert float(Power(2.0).power(scale=0.5, n=3)) == 4


def test_each_instance_has_its_own_variables():
    two, three = Power(2.0), Power(3.0)
    assert [float(p.power(3)) for p in (two, three, two)] == [8, 27, 8]
    two.weight.assign(1.0)
    assert [float(p.power(3)) for p in (two, three)] == [1, 27]


def test_a_method_is_called_on_its_class():
    assert float(Power.power(Power(2.0), 3)) == 8


def test_a_method_is_traced_once_an_instance():
    two, three = Power(2.0), Power(3.0)
    before = len(Power.power.subgraphs)
    for p in (two, three, two, three):
        p.power(3)
    assert len(Power.power.subgraphs) == before + 2


def test_methods_call_each_other():
    class Parity:
        @rtf.subgraph
        def even(self, n):
            if n < 1:
                return True
            return self.odd(n - 1)

        @rtf.subgraph
        def odd(self, n):
            if n < 1:
                return False
            return self.even(n - 1)

    assert [bool(Parity().even(n)) for n in range(3)] == [True, False, True]


def test_a_method_of_a_base_class_calls_one_of_the_class():
    class Base:
        @rtf.subgraph
        def total(self, n):
            if n < 1:
                return 0
            return self.own(n) + self.total(n - 1)

    class Doubling(Base):
        def own(self, n):
            return 2 * n

    class Squaring(Base):
        def own(self, n):
            return n * n

    assert [int(cls().total(3)) for cls in (Doubling, Squaring)] == [12, 14]


def test_a_method_calls_that_of_its_base_class():
    class Base:
        @rtf.subgraph
        def f(self, n):
            if n < 1:
                return 1
            return 2 * self.f(n - 1)

    class Child(Base):
        @rtf.subgraph
        def f(self, n):
            if n > 3:
                return self.f(n - 1) - 1
            return super(Child, self).f(n)  # noqa: UP008

    assert [int(Child().f(n)) for n in range(6)] == [1, 2, 4, 8, 7, 6]


def test_static_and_class_methods_are_decorated():
    class Maths:
        base = 3

        @staticmethod
        @rtf.subgraph
        def fib(n):
            if n < 2:
                return n
            return Maths.fib(n - 1) + Maths.fib(n - 2)

        @classmethod
        @rtf.subgraph
        def power(cls, n):
            if n < 1:
                return 1
            return cls.base * cls.power(n - 1)

    assert [int(Maths.fib(10)), int(Maths().power(3)), int(Maths.power(2))] == [
        55,
        27,
        9,
    ]


def test_a_bound_method_may_be_decorated():
    class Tree:
        def size(self, n):
            if n < 1:
                return 1
            return 2 * self.sized(n - 1) + 1

    tree = Tree()
    tree.sized = rtf.subgraph(tree.size)
    assert int(tree.sized(3)) == 15


def test_a_method_is_an_argument():
    @rtf.subgraph
    def repeat(function, n):
        if n < 1:
            return 1.0
        return function(repeat(function, n - 1))

    two = Power(2.0)
    assert [float(repeat(two.times, 3)) for _ in range(2)] == [8, 8]
    assert float(repeat(lambda x: two.power(2) * x, 2)) == 16
    assert len(repeat.subgraphs) == 1


def test_a_decorated_method_is_an_argument():
    @rtf.subgraph
    def repeat(function, n):
        if n < 1:
            return 2
        return tf.cast(function(repeat(function, n - 1)), tf.int32)

    two = Power(2.0)
    assert [int(repeat(two.power, 2)) for _ in range(2)] == [16, 16]
    assert len(repeat.subgraphs) == 1


def test_an_instance_may_be_a_structure_of_tensors():
    class Forest(NamedTuple):
        left: tf.Tensor
        right: tf.Tensor

        @rtf.subgraph
        def size(self, node):
            if node < 0:
                return 0
            return 1 + self.size(self.left[node]) + self.size(self.right[node])

    assert int(Forest([1, -1, -1], [2, -1, -1]).size(0)) == 3
    assert int(Forest([1, 3, -1, -1], [2, -1, -1, -1]).size(0)) == 4


def test_an_instance_may_compare_by_value():
    @dataclasses.dataclass
    class Scale:
        by: int

        @rtf.subgraph
        def times(self, n):
            if n < 1:
                return 0
            return self.by + self.times(n - 1)

    assert [int(Scale(2).times(3)), int(Scale(3).times(3))] == [6, 9]


def test_a_module_has_decorated_methods():
    class Chain(tf.Module):
        def __init__(self):
            super().__init__()
            self.weights = [tf.Variable(2.0), tf.Variable(3.0)]

        @rtf.subgraph
        def run(self, n):
            if n < 1:
                return 1.0
            return self.run(n - 1) * self.weights[0] + self.weights[1]

    chain = Chain()
    assert float(chain.run(2)) == (2 + 3) * 2 + 3
    assert len(chain.trainable_variables) == 2
