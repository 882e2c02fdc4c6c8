"""Recursive functions with loops: see programs.py."""

import tensorflow as tf

CHILDREN = tf.ragged.constant([[1, 2, 3], [4], [], [5, 6], [], [], []])


def define_while(decorate):
    @decorate
    def compositions(n):
        if n <= 0:
            return 1
        total = 0
        k = 1
        while k <= n:
            total += compositions(n - k)
            k += 1
        return total

    return compositions


def define_for_over_a_range(decorate):
    @decorate
    def f(n):
        if n < 1:
            return 1
        total = n
        for k in tf.range(n):
            total += f(k)
        return total

    return f


def define_for_over_rows(decorate):
    @decorate
    def size(node):
        children = CHILDREN[node]
        if tf.size(children) < 1:
            return 1
        total = 1
        for child in children:
            total += size(child)
        return total

    return lambda n: size(n % 7)


def define_break_and_continue(decorate):
    @decorate
    def f(n):
        if n < 2:
            return 1
        total = 0
        for k in tf.range(n):
            if k % 2 == 0:
                continue
            if total > 30:
                break
            total += f(k) + 1
        return total

    return f


def define_condition_of_a_loop(decorate):
    @decorate
    def f(n):
        if n < 1:
            return 0
        k = 0
        while f(k // 2) + k < n:
            k += 1
        return k

    return f


def define_loop_without_calls(decorate):
    @decorate
    def f(n):
        if n < 1:
            return 1
        inner = f(n - 1)
        for k in tf.range(n):
            inner = inner + k
        return inner

    return f


LOOPS = (
    define_while,
    define_for_over_a_range,
    define_for_over_rows,
    define_break_and_continue,
    define_condition_of_a_loop,
    define_loop_without_calls,
)
