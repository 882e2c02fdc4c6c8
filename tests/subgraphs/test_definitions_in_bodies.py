"""SubGraphs that are defined in bodies use what is local there."""

import numpy as np
import tensorflow as tf

import recursive_tf as rtf


def test_a_subgraph_defined_in_a_body_uses_the_bodys_tensors():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: 0, lambda: n + inner(k - 1)))
        outer.output(inner(4))
    assert int(outer(10)) == 40


def test_a_subgraph_defined_in_a_branch_uses_the_branchs_tensors():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)

        def large():
            double = 2 * n
            with rtf.SubGraph("inner") as inner:
                k = inner.input(tf.int32)
                inner.output(tf.cond(k < 1, lambda: 0, lambda: double + inner(k - 1)))
            return inner(n)

        outer.output(tf.cond(n > 2, large, lambda: n))
    assert [int(outer(n)) for n in (2, 3)] == [2, 18]


def test_every_invocation_has_its_own_local_tensors():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("add_n") as add_n:
            add_n.output(n + add_n.input(tf.int32))
        outer.output(tf.cond(n < 1, lambda: 0, lambda: add_n(10 * outer(n - 1))))
    assert int(outer(4)) == 1234


def test_local_tensors_of_two_levels_reach_the_innermost_subgraph():
    with rtf.SubGraph("a") as a:
        x = a.input(tf.int32)
        with rtf.SubGraph("b") as b:
            y = b.input(tf.int32)
            with rtf.SubGraph("c") as c:
                z = c.input(tf.int32)
                end = lambda: 100 * x + 10 * y  # noqa: E731
                c.output(tf.cond(z < 1, end, lambda: 1 + c(z - 1)))
            b.output(c(3))
        a.output(b(2))
    assert int(a(1)) == 123


def test_a_sibling_procedure_passes_local_tensors_on():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("uses_n") as uses_n:
            uses_n.output(n * uses_n.input(tf.int32))
        with rtf.SubGraph("calls_it") as calls_it:
            calls_it.output(1 + uses_n(calls_it.input(tf.int32)))
        outer.output(calls_it(5))
    assert int(outer(10)) == 51


def test_local_tensors_pass_through_mutual_recursion():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        ping = rtf.SubGraph("ping", output_signature=tf.int32)
        pong = rtf.SubGraph("pong", output_signature=tf.int32)
        with ping:
            k = ping.input(tf.int32)
            ping.output(tf.cond(k < 1, lambda: 0, lambda: 1 + pong(k - 1)))
        with pong:
            k = pong.input(tf.int32)
            pong.output(tf.cond(k < 1, lambda: 0, lambda: n + ping(k - 1)))
        outer.output(ping(5))
    assert int(outer(10)) == 1 + 10 + 1 + 10 + 1


def test_a_subgraph_defined_in_a_body_calls_the_body_around_it():
    with rtf.SubGraph("outer", output_signature=tf.int32) as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: 0, lambda: n + outer(k - 1)))
        outer.output(tf.cond(n < 1, lambda: 0, lambda: inner(n)))
    assert int(outer(6)) == 6 + 5 + 4 + 3 + 2 + 1


def test_a_local_tensor_is_passed_from_within_a_branch():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        local = n * n
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: local, lambda: inner(k - 1)))
        deep = lambda: tf.cond(n < 3, lambda: 0, lambda: inner(2))  # noqa: E731
        outer.output(tf.cond(n < 5, deep, lambda: 1))

    assert int(outer(4)) == 16


def test_a_local_tensor_is_passed_from_within_a_loop():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            inner.output(n * inner.input(tf.int32))
        step = lambda k, s: (k + 1, s + inner(k))  # noqa: E731
        outer.output(tf.while_loop(lambda k, _: k < n, step, (0, 0))[1])
    assert int(outer(4)) == 4 * (1 + 2 + 3)


def test_local_tensors_of_every_dtype_are_passed():
    with rtf.SubGraph("outer") as outer:
        values = outer.input((tf.string, tf.float32, tf.bool))
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: values, lambda: inner(k - 1)))
        outer.output(inner(2))
    found = outer((b"leaf", 1.5, True))
    assert [x.numpy() for x in found] == [b"leaf", 1.5, True]


def test_a_subgraph_defined_in_a_body_maps_over_many_roots():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)
        with rtf.SubGraph("inner") as inner:
            k = inner.input(tf.int32)
            inner.output(tf.cond(k < 1, lambda: 0, lambda: n + inner(k - 1)))
        outer.output(inner(n))
    np.testing.assert_array_equal(outer.map(tf.range(50)), np.arange(50) ** 2)


def test_a_subgraph_defined_in_a_loop_uses_the_loops_variables():
    with rtf.SubGraph("outer") as outer:
        n = outer.input(tf.int32)

        def step(k, total):
            with rtf.SubGraph("inner") as inner:
                m = inner.input(tf.int32)
                inner.output(tf.cond(m < 1, lambda: 0, lambda: k + inner(m - 1)))
            return k + 1, total + inner(k)

        outer.output(tf.while_loop(lambda k, _: k < n, step, (0, 0))[1])
    assert int(outer(4)) == 0 + 1 + 4 + 9
