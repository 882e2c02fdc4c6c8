"""Root calls of memoized SubGraphs from many threads: none waits for ever."""

import threading

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.graphs import define_evaluation, random_graph

pytestmark = [pytest.mark.stress, pytest.mark.every_executor]


def define_cycles():
    with rtf.SubGraph("cycles", memo=lambda n: n % 50) as cycles:
        n = cycles.input(tf.int32)
        more = lambda: cycles(n + 1) + cycles(n + 3) + cycles(n + 7)  # noqa: E731
        cycles.output(tf.cond(n < 0, lambda: n, more))
    return cycles


def test_graphs_are_right_and_cycles_end_while_others_run():
    w = tf.Variable(0.7)
    leaf, inner = (lambda _: w * 1.0), (lambda a, b: tf.sin(w * a + b))
    graphs = [random_graph(seed, size=100) for seed in range(4)]
    values = [define_evaluation(graph, leaf, inner) for graph in graphs]
    expected = [graph.evaluate(leaf, inner)[-1] for graph in graphs]
    cycles = define_cycles()
    wrong = []

    def work(thread):
        for i in range(20):
            k = (i + thread) % len(values)
            with tf.GradientTape() as tape:
                y = values[k](99)
            if tape.gradient(y, w) is None or not np.allclose(y, expected[k]):
                wrong.append(k)
            message_of(lambda: cycles(0), tf.errors.FailedPreconditionError)

    threads = [threading.Thread(target=work, args=(t,), daemon=True) for t in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []
