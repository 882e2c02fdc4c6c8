"""SubGraphs that are declared first, and defined by each other."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of


def define_parity(even_first=True, output_signature=tf.bool):
    """Returns is_even and is_odd, each defined by the other."""
    even = rtf.SubGraph("even", output_signature=output_signature)
    odd = rtf.SubGraph("odd", output_signature=output_signature)

    def define_even():
        with even:
            n = even.input(tf.int32)
            even.output(tf.cond(n < 1, lambda: True, lambda: odd(n - 1)))

    def define_odd():
        with odd:
            n = odd.input(tf.int32)
            odd.output(tf.cond(n > 0, lambda: even(n - 1), lambda: False))

    for define in (
        (define_even, define_odd) if even_first else (define_odd, define_even)
    ):
        define()
    return even, odd


@pytest.mark.parametrize("output_signature", [tf.bool, None], ids=["said", "found"])
@pytest.mark.parametrize("even_first", [True, False])
def test_subgraphs_are_declared_first_and_defined_later(even_first, output_signature):
    even, odd = define_parity(even_first, output_signature)
    assert [bool(even(n)) for n in range(4)] == [True, False, True, False]
    assert [bool(odd(n)) for n in range(4)] == [False, True, False, True]


def test_mutual_recursion_runs_in_a_function():
    @tf.function
    def run(n):
        even, odd = define_parity()
        return even(n), odd(n)

    assert [bool(found) for found in run(7)] == [False, True]


def test_three_subgraphs_call_each_other_in_a_ring():
    ring = [rtf.SubGraph(f"mod_{k}", output_signature=tf.int32) for k in range(3)]

    def define(k):
        with ring[k] as this:
            n = this.input(tf.int32)
            following = ring[(k + 1) % 3]
            this.output(tf.cond(n < 1, lambda: k, lambda: following(n - 1)))

    for k in range(3):
        define(k)
    assert [int(ring[0](n)) for n in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_what_a_later_definition_returns_is_checked_against_calls_before():
    other = rtf.SubGraph("other")
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: 1.5, lambda: other(n - 1)))

    def define():
        with other:
            other.output(other.input(tf.int32))

    assert "'other' returns int32[], but a call" in message_of(define)
