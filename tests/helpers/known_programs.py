"""A process that knows no program yet: for tests of what is compiled, or shared."""

import sys

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.program.equal_programs import content_of_program

# Not `recursive_tf.python.program.close`, which is the function.
_CLOSING = sys.modules["recursive_tf.python.program.close"]


def know_only(monkeypatch, programs):
    """Makes a process know what is in `programs`, and adds there what is new."""
    monkeypatch.setattr(_CLOSING, "KNOWN", programs)
    return programs


class _Nothing:
    """Knows no program, and learns none."""

    def same_as(self, graphs, _compiler):
        self.graphs = graphs
        return graphs


def content_of(subgraph, compiler=0):
    """Returns what is equal of equal programs, without making one known."""
    with pytest.MonkeyPatch.context() as patch:
        closed = know_only(patch, _Nothing())
        subgraph._close()
    return content_of_program(closed.graphs, compiler)


def define_equal_power(weight, name="power", executor="batched", options=None):
    """Returns a SubGraph that multiplies by a weight n times, on each level once."""
    with rtf.SubGraph(name, executor=executor, options=options) as power:
        n, x = power.input(tf.int32), power.input(tf.float32)
        more = lambda: weight * power(n - 1, x)  # noqa: E731
        power.output(tf.cond(n < 1, lambda: x, more))
    return power


def trained(power, weight, n=3):
    """Returns a result with its gradients by the argument and by the weight."""
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(n, x)
    return [float(t) for t in (y, *tape.gradient(y, [x, weight]))]


def count_down(make, *, inputs=(tf.float32,), outputs=tf.float32, **choices):
    """Returns a SubGraph whose recursion ends in what `make` makes of its inputs."""
    signature = tf.TensorSpec([], outputs) if outputs else None
    with rtf.SubGraph("f", output_signature=signature, **choices) as f:
        n = f.input(tf.int32)
        others = [f.input(spec) for spec in inputs]
        end = lambda: make(*others)  # noqa: E731
        f.output(tf.cond(n < 1, end, lambda: f(n - 1, *others)))
    return f
