"""Recursive functions of several functions: see programs.py."""


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
