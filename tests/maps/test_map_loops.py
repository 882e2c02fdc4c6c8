"""`tf.map_fn` of a function that only calls a SubGraph is `.map`; no other loop is."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python import tf_compat
from recursive_tf.python.program.effects import ops_within
from recursive_tf.python.subgraphs.subgraph import root_call_of

FLOAT = tf.TensorSpec([])


def of_one(f, n, x):
    return tf.map_fn(lambda m: f(m, x), tf.range(n), fn_output_signature=FLOAT)


def of_several(f, n, x):
    pairs = tf.range(n), tf.fill([n], 2.0 * x)
    return tf.map_fn(lambda pair: f(*pair), pairs, fn_output_signature=FLOAT)


def of_rows(f, n, x):
    rows = tf.reshape(tf.range(2 * n), [n, 2])
    pick = lambda row: f(row[0] // 2, x)  # noqa: E731
    return tf.map_fn(pick, rows, fn_output_signature=FLOAT)


def by_hand(f, n, x):
    def turn(i, parts, below):
        return i + 1, parts, below.write(i, f(parts.read(i), x))

    parts = tf.TensorArray(tf.int32, 0, dynamic_size=True).unstack(tf.range(n))
    below = tf.TensorArray(tf.float32, n)
    return tf.while_loop(lambda i, *_: i < n, turn, (0, parts, below))[2].stack()


def that_stops_early(f, n, x):
    def turn(i, below):
        return i + 1, below.write(i, f(i, x))

    below = tf.TensorArray(tf.float32, n, element_shape=[])
    return tf.while_loop(lambda i, _: i < n - 1, turn, (0, below))[1].stack()


def that_needs_the_turn_before(f, n, x):
    return tf.scan(lambda y, m: f(m, y), tf.range(n), x)


ARE_MAPS = {of_one: True, of_several: True}
LOOPS = [
    of_one,
    of_several,
    of_rows,
    by_hand,
    that_stops_early,
    that_needs_the_turn_before,
]


def define(loop, **choices):
    f = rtf.SubGraph("f", output_signature=FLOAT, **choices)
    with f:
        n, x = f.input(tf.int32), f.input(tf.float32)
        more = lambda: tf.cos(x) + tf.reduce_sum(loop(f, n, x))  # noqa: E731
        f.output(tf.cond(n < 1, lambda: tf.sin(x), more))
    return f


def types_within(f):
    (procedure,) = root_call_of(f).program.procedures
    return {op.type for op in ops_within(tf_compat.to_func_graph(procedure.function))}


def plain(loop, n, x):
    if n < 1:
        return tf.sin(x)
    return tf.cos(x) + tf.reduce_sum(loop(lambda n, x: plain(loop, n, x), n, x))


def differentiate(run, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x)
    return [y, tape.gradient(y, x)]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_what_it_computes_stays(loop):
    f, x = define(loop, executor="dataflow"), tf.constant(0.3)
    for n in range(5):
        found = differentiate(lambda x, n=n: f(n, x), x)
        expected = differentiate(lambda x, n=n: plain(loop, n, x), x)
        tf.debugging.assert_near(found, expected, rtol=1e-5)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_only_a_function_that_just_calls_is_mapped(loop):
    types = types_within(define(loop))
    assert ("StatelessRecursiveMap" in types) == ARE_MAPS.get(loop, False)
    assert ("While" in types) != ARE_MAPS.get(loop, False)


def test_a_map_of_any_number_of_rows_is_batched():
    rows, x = [0, 3, 2], tf.constant([0.3, 0.2, 0.1])
    f = define(of_one, executor="batched")
    found = differentiate(lambda x: f.map(rows, x), x)
    each = [
        differentiate(lambda y, n=n: plain(of_one, n, y), y)
        for n, y in zip(rows, x, strict=True)
    ]
    tf.debugging.assert_near(
        found, [tf.stack(both) for both in zip(*each, strict=True)]
    )


def test_effects_keep_their_order():
    seen = tf.Variable([0, 0, 0, 0])
    count = tf.Variable(0)
    returns = tf.TensorSpec([], tf.int32)
    with rtf.SubGraph("f", output_signature=returns, executor="dataflow") as f:
        n = f.input(tf.int32)
        seen.scatter_nd_update([[n]], [count.assign_add(1)])
        children = lambda: tf.reduce_sum(tf.map_fn(f, tf.range(n)))  # noqa: E731
        f.output(tf.cond(n < 3, lambda: n, children))
    assert int(f(3)) == 3
    assert seen.numpy().tolist() == [2, 3, 4, 1]
    assert "While" in types_within(f)
