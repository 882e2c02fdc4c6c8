"""Recursive functions with branches: see programs.py."""


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
