"""No recursion nests in a thread's stack, not even where TensorFlow's queues are full.

A thread of TensorFlow's pool has a queue of 1,024 places. If it is full, the pool runs
what it is given at once, in the stack of whoever gave it. So each program here fills
the queues, and goes deep then. It runs in a process of its own, which a stack that
overflows would end.
"""

import textwrap

import pytest

from tests.helpers.programs import run_code

pytestmark = pytest.mark.slow

BEGINNING = """
    import tensorflow as tf
    import recursive_tf as rtf

    w = tf.Variable(1.0)
    depths = tf.where(tf.equal(tf.range(2_000) % 100, 0), 5_000, 1)

    def define(calls, **limits):
        options = rtf.Options(**{"max_depth": None, **limits})
        with rtf.SubGraph("f", executor="dataflow", options=options) as f:
            n = f.input(tf.int32)
            more = lambda: w * tf.add_n(calls(f, n))
            f.output(tf.cond(tf.equal(n, 0), lambda: 1.0, more))
        return f
"""

PROGRAMS = {
    "rows that are deep": """
        f = define(lambda f, n: [f(n - 1)])
        assert float(tf.reduce_sum(f.map(depths))) == 2_000
    """,
    "gradients of rows that are deep": """
        f = define(lambda f, n: [f(n - 1)])
        with tf.GradientTape() as tape:
            y = f.map(depths)
        assert float(tape.gradient(y, w)) == float(tf.reduce_sum(depths))
    """,
    "a chain with leaves at both sides": """
        f = define(lambda f, n: [f(0), f(n - 1), f(0)])
        for _ in range(3):
            assert float(f(50_000)) == 100_001
    """,
    "a chain in training": """
        f = define(lambda f, n: [f(0), f(n - 1), f(0)])
        with tf.GradientTape() as tape:
            y = f(20_000)
        tape.gradient(y, w)
    """,
    "a binary tree without end": """
        f = define(lambda f, n: [f(n - 1), f(n - 1)], max_depth=5_000)
        for _ in range(3):
            try:
                f(-1)
                raise SystemExit("no error")
            except tf.errors.ResourceExhaustedError as error:
                assert "reached max_depth=5000" in str(error)
    """,
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_full_queues_are_harmless_to(name, threads, tmp_path):
    program = textwrap.dedent(BEGINNING) + textwrap.dedent(PROGRAMS[name])
    run_code(program, tmp_path, {"TF_NUM_INTEROP_THREADS": str(threads)})
