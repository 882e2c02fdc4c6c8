"""Recursions that do nothing but call, so that the cost is that of the calls."""

from collections.abc import Callable

import tensorflow as tf

import recursive_tf as rtf

Program = Callable[..., tf.Tensor]

COUNT = tf.TensorSpec([], tf.int32)
VALUE = tf.TensorSpec([], tf.float32)
# The deepest benchmarks are beyond the default limits.
_NO_LIMIT = rtf.Options(max_depth=None, max_bytes=None)


def fib_calls(n: int) -> int:
    """Returns how many calls `fib(n)` is, e.g. 21,891 for 20."""
    return 1 if n < 2 else 1 + fib_calls(n - 1) + fib_calls(n - 2)


def make_fib() -> Program:
    """Returns `fib(n)`, of integers."""

    @tf.function(input_signature=[COUNT])
    def run(n: tf.Tensor) -> tf.Tensor:
        with rtf.SubGraph("fib", executor="dataflow") as fib:
            k = fib.input(tf.int32)
            fib.output(tf.cond(k < 2, lambda: k, lambda: fib(k - 1) + fib(k - 2)))
        return fib(n)

    return run


def make_fib_of_values() -> Program:
    """Returns `fib(n) * x`, by as many calls as `fib(n)`; differentiable in `x`."""

    @tf.function(input_signature=[COUNT, VALUE])
    def run(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        with rtf.SubGraph("fib", executor="dataflow") as fib:
            k, value = fib.input(tf.int32), fib.input(tf.float32)
            fib.output(
                tf.cond(
                    k < 2,
                    lambda: tf.cast(k, tf.float32) * value,
                    lambda: fib(k - 1, value) + fib(k - 2, value),
                )
            )
        return fib(n, x)

    return run


def make_linear(extra_ops: int = 0) -> Program:
    """Returns a recursion of `n` calls; of `x`, it is `x ** (n + 1)`.

    Args:
        extra_ops: How many ops to add to the body, before its call. They are sines:
            nothing folds or fuses them, and the gradient of each keeps a value. The
            result then is another.
    """

    @tf.function(input_signature=[COUNT, VALUE])
    def run(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        with rtf.SubGraph("linear", executor="dataflow", options=_NO_LIMIT) as linear:
            k, value = linear.input(tf.int32), linear.input(tf.float32)

            def deeper() -> tf.Tensor:
                inner = value
                for _ in range(extra_ops):
                    inner = tf.sin(inner)
                return linear(k - 1, inner) * value

            linear.output(tf.cond(k < 1, lambda: value, deeper))
        return linear(n, x)

    return run


def make_wide(call_sites: int) -> Program:
    """Returns a recursion that calls itself at `call_sites` places; differentiable."""

    @tf.function(input_signature=[COUNT, VALUE])
    def run(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        with rtf.SubGraph("wide", executor="dataflow") as wide:
            k, value = wide.input(tf.int32), wide.input(tf.float32)

            def deeper() -> tf.Tensor:
                return tf.add_n([wide(k - 1, value) for _ in range(call_sites)])

            wide.output(tf.cond(k < 1, lambda: value, deeper))
        return wide(n, x)

    return run


def with_gradient(program: Program) -> Program:
    """Returns the gradient of `program(n, x)` by `x`: forward, kept, and backward."""

    @tf.function(input_signature=[COUNT, VALUE])
    def run(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(n, x)
        return tape.gradient(y, x)

    return run


def count_ops(program: Program) -> int:
    """Returns how many ops the bodies of a program have, both branches counted."""
    graph = program.get_concrete_function().graph.as_graph_def()
    return sum(len(function.node_def) for function in graph.library.function)
