"""What bodies map over children, push or share: rows of docs/language.md."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.graphs import Graph, define_evaluation, lattice
from tests.helpers.unrolled import check_same
from tests.language.features import feature

feature = partial(feature, "Control flow in bodies")

CHILDREN = tf.constant([[1, 2], [4, 3], [4, -1], [-1, -1], [-1, -1]])


def plain_tree(node, x, w):
    below = [plain_tree(int(c), x * w, w) ** 2 for c in CHILDREN[node] if c >= 0]
    return tf.sin(x) + sum(below, tf.constant(0.0))


# --- Maps and folds of children


@feature(
    "`tf.map_fn` of a function that only calls a SubGraph: it is `.map`",
    gradients=True,
)
def test_maps_by_map_fn(w):
    with rtf.SubGraph("walk", output_signature=tf.float32) as walk:
        node, x = walk.input(tf.int32), walk.input(tf.float32)

        def internal():
            below = tf.map_fn(
                lambda child: walk(child, x * w),
                tf.gather(CHILDREN, node),
                fn_output_signature=tf.float32,
            )
            return tf.sin(x) + tf.reduce_sum(below**2)

        walk.output(tf.cond(node < 0, lambda: 0.0, internal))

    recurse, loop = (lambda x: walk(0, x)), (lambda x: plain_tree(0, x, w))
    check_same(recurse, loop, tf.constant(0.7), w)


@feature("`tf.scan`, and `tf.map_fn` of a function that does more", gradients=True)
def test_scans_around_calls(w):
    with rtf.SubGraph("walk", output_signature=tf.float32) as walk:
        node, x = walk.input(tf.int32), walk.input(tf.float32)

        def internal():
            own = tf.gather(CHILDREN, node)
            scan = lambda y, child: y * w + walk(child, y)  # noqa: E731
            scanned = tf.scan(scan, own, x)
            more = lambda child: walk(child, x) * tf.cast(child, x.dtype)  # noqa: E731
            return scanned[-1] + tf.reduce_sum(
                tf.map_fn(more, own, fn_output_signature=tf.float32)
            )

        walk.output(tf.cond(node < 0, lambda: tf.sin(x), internal))

    def plain(node, x):
        if node < 0:
            return tf.sin(x)
        y = x
        own = [int(child) for child in CHILDREN[node]]
        for child in own:
            y = y * w + plain(child, y)
        return y + sum(plain(child, x) * child for child in own)

    check_same(lambda x: walk(0, x), lambda x: plain(0, x), tf.constant(0.7), w)


@feature("`.map` in bodies, of a static number of rows", gradients=True)
def test_maps_of_static_size(w):
    with rtf.SubGraph("walk", output_signature=tf.float32) as walk:
        node, x = walk.input(tf.int32), walk.input(tf.float32)

        def internal():
            below = walk.map(tf.gather(CHILDREN, node), tf.stack([x * w, x * w]))
            return tf.sin(x) + tf.reduce_sum(below**2)

        walk.output(tf.cond(node < 0, lambda: 0.0, internal))

    recurse, loop = (lambda x: walk(0, x)), (lambda x: plain_tree(0, x, w))
    check_same(recurse, loop, tf.constant(0.7), w)


@pytest.mark.falls_back("its second gradient", at="batched")
@feature("`.map` in bodies, of any number of rows", gradients=True)
def test_maps_of_any_size(w):
    with rtf.SubGraph("walk", output_signature=tf.float32) as walk:
        node, x = walk.input(tf.int32), walk.input(tf.float32)
        own = tf.gather(CHILDREN, node)
        own = tf.boolean_mask(own, own >= 0)
        below = walk.map(own, tf.fill(tf.shape(own), x * w))
        walk.output(tf.sin(x) + tf.reduce_sum(below**2))

    recurse, loop = (lambda x: walk(0, x)), (lambda x: plain_tree(0, x, w))
    check_same(recurse, loop, tf.constant(0.7), w)


def define_walk(combine):
    """Returns a SubGraph and a plain function that combine any number of children.

    Args:
        combine: Of what the children give, `[k, 2]`, and a vector of the node.
    """
    with rtf.SubGraph("walk", output_signature=tf.TensorSpec([2])) as walk:
        node, x = walk.input(tf.int32), walk.input(tf.float32, [2])
        own = tf.gather(CHILDREN, node)
        own = tf.boolean_mask(own, own >= 0)
        walk.output(combine(walk.map(own, tf.tile(x[None], [tf.size(own), 1])), x))

    def plain(node, x):
        below = [plain(int(child), x) for child in CHILDREN[node] if child >= 0]
        return combine(tf.stack(below) if below else tf.zeros([0, 2]), x)

    return walk, plain


@pytest.mark.falls_back("its second gradient", at="batched")
@feature(
    "over any number of rows: `tf.reduce_sum`, `tf.reduce_max` and so on, `tf.matmul`, "
    "`tf.nn.softmax`, masks, ranges, slices, `tf.shape`",
    gradients=True,
)
def test_what_is_done_with_any_number_of_rows(w):
    def attend(below, x):
        scores = tf.linalg.matvec(tf.tanh(below @ tf.fill([2, 2], w)), x)
        context = tf.linalg.matvec(below, tf.nn.softmax(scores), transpose_a=True)
        is_any = tf.cast(tf.shape(below)[0] > 0, tf.float32)
        largest = tf.maximum(tf.reduce_max(tf.concat([below, -below], 1), 0)[2:], -9.0)
        some = tf.reduce_sum(below[:, :1] * x, 0)
        return tf.sin(x + context + is_any * largest + some)

    walk, plain = define_walk(attend)
    check_same(lambda x: walk(0, x), lambda x: plain(0, x), tf.constant([0.7, -0.3]), w)


@feature(
    "one of any number of rows, or all of them in another order",
    gradients=True,
    refused="not known how to do it item by item",
)
def test_the_order_of_any_number_of_rows(w):
    def weigh(below, x):
        return tf.sin(x + tf.reduce_sum(tf.reverse(below, [0]) * below, 0) * w)

    walk, plain = define_walk(weigh)
    check_same(lambda x: walk(0, x), lambda x: plain(0, x), tf.constant([0.7, -0.3]), w)


# --- Pushes


@feature("`push`: a value of each invocation, in a table", gradients=True)
def test_pushes(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)
        y = tf.cond(n < 1, lambda: x, lambda: tf.sin(walk(n - 1, x)) * w)
        walk.push("y", y, index=n, size=5)
        walk.output(y)

    def plain(x):
        values = [x]
        for _ in range(3):
            values.append(tf.sin(values[-1]) * w)
        return tf.stack([*values, tf.constant(0.0)])

    def pushed(x):
        return walk(3, x, with_pushed=True)[1]["y"]

    check_same(pushed, plain, tf.constant(0.7), w)


@feature(
    "a call for its pushes alone; `tf.group`, `tf.no_op`, None as results of branches",
    gradients=True,
)
def test_calls_for_pushes(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)
        walk.push("y", tf.sin(x * tf.cast(n, tf.float32)) * w, index=n, size=4)
        tf.cond(n > 0, lambda: tf.group(walk(n - 1, x * w)), tf.no_op)
        walk.output(None)

    def plain(x):
        values = []
        for n in (3.0, 2.0, 1.0, 0.0):
            values.append(tf.sin(x * n) * w)
            x = x * w
        return tf.stack(values[::-1])

    def pushed(x):
        return walk(3, x, with_pushed=True)[1]["y"]

    check_same(pushed, plain, tf.constant(0.7), w)


# --- Shared invocations


@feature(
    "`memo=`: nodes of a graph that share children, each evaluated once", gradients=True
)
def test_shared_invocations(w):
    graph = lattice(8)
    inner = lambda left, right: tf.sin(w * left + right)  # noqa: E731
    value = define_evaluation(graph, lambda _: w * 1.0, inner, push=True)

    def unrolled(x):
        return x * graph.evaluate(lambda _: w * 1.0, inner)[-1]

    check_same(lambda x: x * value(graph.size - 1), unrolled, tf.constant(2.0), w)


@feature(
    "`memo=` of a graph with a cycle",
    raises=tf.errors.FailedPreconditionError,
    says="SubGraph 'value' failed at value → call#…, which waits for this invocation",
)
def test_a_cycle_of_shared_invocations(w):
    cycle = Graph(np.array([-1, 2, 1], np.int32), np.array([-1, 0, 0], np.int32))
    define_evaluation(cycle, lambda _: w * 1.0, tf.add)(2)


@feature(
    "differentiable inputs with `memo=`",
    raises=rtf.SubGraphError,
    says="with memo= no input may be differentiable…Use the tensor from outside",
)
def test_a_differentiable_input_of_what_is_shared():
    with rtf.SubGraph("f", memo=lambda n, x: n) as f:
        f.output((f.input(tf.int32), f.input(tf.float32)))
