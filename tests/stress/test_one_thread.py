"""No call waits in a thread: TensorFlow with one thread runs everything.

Each program runs in a process of its own, because TensorFlow sets up its threads once.
"""

import textwrap

import pytest

from tests.helpers.programs import run_code

pytestmark = pytest.mark.slow

BEGINNING = """
    import tensorflow as tf
    import recursive_tf as rtf

    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    w = tf.Variable(1.0)
    no_limit = rtf.Options(max_depth=None)
    with rtf.SubGraph("tree", executor="dataflow", options=no_limit) as tree:
        n, calls = tree.input(tf.int32), tree.input(tf.int32)
        below = lambda: tree(n - 1, calls)
        many = [lambda: below(), lambda: below() + below()]
        more = lambda: w * tf.switch_case(calls - 1, many)
        tree.output(tf.cond(n < 1, lambda: 1.0, more))
"""

PROGRAMS = {
    "deep": "assert float(tree(20_000, 1)) == 1",
    "wide": "assert float(tree(12, 2)) == 2**12",
    "deep gradient": """
        with tf.GradientTape() as tape:
            y = tree(10_000, 1)
        assert float(tape.gradient(y, w)) == 10_000
    """,
    "wide gradient": """
        with tf.GradientTape() as tape:
            y = tree(10, 2)
        assert float(tape.gradient(y, w)) == 10 * 2**10
    """,
    "map with a gradient": """
        with tf.GradientTape() as tape:
            y = tree.map(tf.range(300) % 9, 1 + tf.range(300) % 2)
        count = lambda k: k % 9 * (1 + k % 2) ** (k % 9)
        assert float(tape.gradient(y, w)) == sum(count(k) for k in range(300))
    """,
    "loop in a body": """
        with rtf.SubGraph("f", executor="dataflow", options=no_limit) as f:
            n = f.input(tf.int32)
            turn = lambda k, total: (k + 1, total + tree(k, 2) + f(n - 1))
            loop = lambda: tf.while_loop(lambda k, _: k < n, turn, (0, 0.0))[1]
            f.output(tf.cond(n < 1, lambda: 0.0, loop))
        found = [0.0]
        for n in range(1, 6):
            found.append(sum(2.0**k for k in range(n)) + n * found[-1])
        assert float(f(5)) == found[-1]
    """,
    "dataset": """
        numbers = tf.data.Dataset.range(50).map(lambda n: tf.cast(n % 6, tf.int32))
        mapped = numbers.map(lambda n: tree(n, 2), num_parallel_calls=4).prefetch(2)
        assert [float(y) for y in mapped] == [2.0 ** (k % 6) for k in range(50)]
    """,
    "failure": """
        with rtf.SubGraph("f", executor="dataflow", options=no_limit) as f:
            n = f.input(tf.int32)
            tf.debugging.assert_none_equal(n, 0)
            f.output(tf.cond(n < -1, lambda: n, lambda: f(n - 1) + f(n - 2)))
        try:
            f(12)
            raise SystemExit("no error")
        except tf.errors.InvalidArgumentError as error:
            assert str(error).count("failed at") == 1
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_thread_is_enough_for(name, tmp_path):
    program = textwrap.dedent(BEGINNING) + textwrap.dedent(PROGRAMS[name])
    run_code(program, tmp_path, {"TF_NUM_INTEROP_THREADS": "1"})
