"""Recursive Python functions, to be decorated, or to run as they are.

Each `define_...` takes a decorator. With `plain` it gives a function that Python runs
by itself: what the decorated one is compared with.
"""

import tensorflow as tf

CHILDREN = tf.ragged.constant([[1, 2, 3], [4], [], [5, 6], [], [], []])


def plain(function):
    return function


# --- Branches


def define_base_first(decorate):
    @decorate
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    return fib


def define_base_last(decorate):
    @decorate
    def fib(n):
        if n >= 2:
            left = fib(n - 1)
            right = fib(n - 2)
            return left + right
        else:  # noqa: RET505
            return n

    return fib


def define_elif(decorate):
    @decorate
    def collatz(n):
        if n <= 1:
            steps = 0
        elif n % 2 == 0:
            steps = 1 + collatz(n // 2)
        else:
            steps = 1 + collatz(3 * n + 1)
        return steps

    return collatz


def define_many_elifs(decorate):
    @decorate
    def f(n):
        if n > 8:
            return f(n - 3) + 1
        elif n > 5:  # noqa: RET505
            return f(n - 2) * 2
        elif n > 2:
            return f(n - 1) - f(n - 2)
        elif n > 0:
            return f(n - 1)
        else:
            return 5

    return f


def define_early_returns(decorate):
    @decorate
    def f(n):
        if n <= 0:
            return 1
        left = f(n - 1)
        if left > 20:
            return left - n
        right = f(n - 2)
        if n > 3:
            left += 1
        if right > 4 and n % 2 == 0:
            return left + 2 * right
        return left + right

    return f


def define_nested_branches(decorate):
    @decorate
    def ackermann(m, n):
        if m > 0:
            if n > 0:
                return ackermann(m - 1, ackermann(m, n - 1))
            else:  # noqa: RET505
                return ackermann(m - 1, 1)
        else:
            return n + 1

    return lambda n: ackermann(2, n)


def define_conditional_expressions(decorate):
    @decorate
    def f(n):
        rest = f(n - 1) if n % 2 == 1 else 0
        return 1 if n < 2 else f(n - 2) + rest

    return f


def define_lambda(decorate):
    fib = decorate(lambda n: n if n < 2 else fib(n - 1) + fib(n - 2))
    return fib


def define_and_or(decorate):
    @decorate
    def is_sum_of_threes_and_fives(n):
        return n == 0 or (
            n > 2
            and (
                is_sum_of_threes_and_fives(n - 3)
                or (n > 4 and is_sum_of_threes_and_fives(n - 5))
            )
        )

    return is_sum_of_threes_and_fives


def define_not(decorate):
    @decorate
    def is_even(n):
        if n < 1:
            return True
        return not is_even(n - 1)

    return is_even


def define_call_in_a_condition(decorate):
    @decorate
    def hofstadter(n):
        if n < 1:
            return 0
        if hofstadter(n - 1) % 2 == 0:
            return n
        return n - hofstadter(n - 1)

    return hofstadter


def define_chained_comparison(decorate):
    @decorate
    def f(n):
        if 0 <= n < 3:
            return n
        return f(n - 1) + f(n - 3)

    return f


# --- Loops


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


# --- Functions


def define_helper(decorate):
    def halve(n):
        return f(n // 2) + 1

    def by_parity(n):
        if n % 2 == 0:
            return halve(n)
        return halve(n - 1) + f(n - 1)

    @decorate
    def f(n):
        if n < 1:
            return 0
        return by_parity(n)

    return f


def define_mutual(decorate):
    @decorate
    def is_even(n):
        if n < 1:
            return True
        return is_odd(n - 1)

    @decorate
    def is_odd(n):
        if n < 1:
            return False
        return is_even(n - 1)

    return is_even


def define_three_mutual(decorate):
    """Returns one of three of which only one has a base case."""

    @decorate
    def first(n):
        return second(n - 1) + 1

    @decorate
    def second(n):
        if n > 0 and n % 3 == 0:
            return first(n - 2)
        return third(n) + third(n - 1)

    @decorate
    def third(n):
        if n < 1:
            return 1
        if n % 2 == 0:
            return first(n - 1)
        return second(n - 1)

    return first


def define_function_in_the_body(decorate):
    @decorate
    def f(n):
        def twice(value):
            return 2 * value

        if n < 1:
            return 1
        return twice(f(n - 1)) + n

    return f


def define_subgraph_in_the_body(decorate):
    @decorate
    def f(n):
        @decorate
        def times_n(k):
            if k < 1:
                return 0
            return times_n(k - 1) + n

        if n < 1:
            return 1
        return times_n(n) + f(n - 1)

    return f


def define_subgraph_in_the_body_that_calls_out(decorate):
    @decorate
    def f(n):
        @decorate
        def g(k):
            if k < 1:
                return n
            return g(k - 1) + f(n - 1)

        if n < 1:
            return 1
        return g(2)

    return f


def define_defaults(decorate):
    @decorate
    def power(n, base=3, *, extra=1):
        if n < 1:
            return extra
        return base * power(n - 1, extra=extra) + power(n - 2, base - 1)

    return power


def define_argument_lists(decorate):
    @decorate
    def f(n, *terms, **more):
        if n < 1:
            return terms[0] + terms[1] * more["scale"]
        return f(n - 1, terms[1], terms[0] + terms[1], scale=more["scale"] + 1)

    return lambda n: f(n, 1, 2, scale=3)


BRANCHES = (
    define_base_first,
    define_base_last,
    define_elif,
    define_many_elifs,
    define_early_returns,
    define_nested_branches,
    define_conditional_expressions,
    define_lambda,
    define_and_or,
    define_not,
    define_call_in_a_condition,
    define_chained_comparison,
)
LOOPS = (
    define_while,
    define_for_over_a_range,
    define_for_over_rows,
    define_break_and_continue,
    define_condition_of_a_loop,
    define_loop_without_calls,
)
FUNCTIONS = (
    define_helper,
    define_mutual,
    define_three_mutual,
    define_function_in_the_body,
    define_subgraph_in_the_body,
    define_subgraph_in_the_body_that_calls_out,
    define_defaults,
    define_argument_lists,
)
