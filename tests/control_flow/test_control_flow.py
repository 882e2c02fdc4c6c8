"""Loops, conditionals and functions in bodies."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.graphs import Graph, define_evaluation, lattice
from tests.helpers.unrolled import check_rows, check_same
from tests.language.features import feature

feature = partial(feature, "Control flow in bodies")

ROWS = [0.2, 1.0, -0.5]


@pytest.fixture
def w():
    return tf.Variable(1.3)


def repeat_while(condition, step, y):
    return tf.while_loop(
        lambda i, y: condition(i, y), lambda i, y: (i + 1, step(y)), (0, y)
    )[1]


# --- Loops without call sites


@feature("`tf.while_loop` that turns a fixed number of times", gradients=True)
def test_a_loop_of_fixed_length(w):
    def step(y, n):
        y += tf.cast(n, tf.float32)
        return repeat_while(lambda i, _: i < 3, lambda y: tf.sin(y * w), y)

    check_rows(step, ROWS, w)


@feature(
    "`tf.while_loop` whose number of turns depends on the activation", gradients=True
)
def test_a_loop_of_computed_length(w):
    def step(y, n):
        return repeat_while(lambda i, _: i < n, lambda y: tf.sin(y * w), y)

    check_rows(step, ROWS, w)


@feature("`tf.while_loop` until a computed value is reached", gradients=True)
def test_a_loop_until_a_value_is_reached(w):
    def step(y, n):
        return repeat_while(lambda _, y: y < 2.0, lambda y: y * w + 0.5, y / (n + 1))

    check_rows(lambda y, n: step(y, tf.cast(n, tf.float32)), ROWS, w)


FOLDS = {
    "map_fn": lambda pair, w: tf.reduce_sum(tf.map_fn(lambda z: tf.sin(z * w), pair)),
    "scan": lambda pair, w: tf.scan(lambda total, z: total + tf.sin(z * w), pair)[-1],
    "foldl": lambda pair, w: tf.foldl(lambda total, z: total + tf.sin(z * w), pair),
    "vectorized_map": lambda pair, w: tf.reduce_sum(
        tf.vectorized_map(lambda z: tf.sin(z * w), pair)
    ),
}


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
@feature(
    "`tf.map_fn`, `tf.scan`, `tf.foldl`, `tf.vectorized_map` of a static shape",
    gradients=True,
)
def test_folds(fold, w):
    check_rows(lambda y, n: fold(tf.stack([y, tf.cast(n, y.dtype)]), w), ROWS, w)


@feature("`tf.TensorArray`", gradients=True)
def test_a_tensor_array(w):
    def step(y, n):
        values = tf.TensorArray(tf.float32, 2).write(0, y * w)
        values = values.write(1, tf.cast(n, tf.float32))
        return tf.reduce_prod(values.stack()) + tf.sin(values.read(0))

    check_rows(step, ROWS, w)


# --- Conditionals


@feature("`tf.cond`, also in `tf.cond`", gradients=True)
def test_conditionals(w):
    def step(y, n):
        inner = lambda: tf.cond(y > 0.5, lambda: tf.sin(y), lambda: y + w)  # noqa: E731
        return tf.cond(n > 1, inner, lambda: y * w)

    check_rows(step, ROWS, w)


@feature("`tf.switch_case`", gradients=True)
def test_switches(w):
    def step(y, n):
        return tf.switch_case(
            n % 3, [lambda: y * w, lambda: y + w, lambda: tf.sin(y) * w]
        )

    check_rows(step, ROWS, w)


@feature("`tf.case`", gradients=True)
def test_cases(w):
    def step(y, n):
        cases = [(y < 0.0, lambda: y * w), (n > 1, lambda: tf.sin(y) * w)]
        return tf.case(cases, default=lambda: y + w)

    check_rows(step, ROWS, w)


@feature("`tf.case` with `exclusive=True`, which asserts it", gradients=True)
def test_exclusive_cases(w):
    def step(y, n):
        cases = [(y < 0.5, lambda: y * w), (y > 2.5, lambda: tf.sin(y) * w)]
        default = lambda: y + w + tf.cast(n, y.dtype)  # noqa: E731
        return tf.case(cases, default=default, exclusive=True)

    check_rows(step, ROWS, w)


@feature("`tf.cond` in a loop, on what depends on the activation", gradients=True)
def test_a_conditional_in_a_loop(w):
    def turn(y):
        return tf.cond(y > 1.0, lambda: tf.sin(y) * w, lambda: y + w)

    check_rows(lambda y, n: repeat_while(lambda i, _: i < 2, turn, y), ROWS, w)


@feature("`tf.where`", gradients=True)
def test_selections(w):
    check_rows(lambda y, n: tf.where((y > 1.0) & (n > 1), y * w, y + w), ROWS, w)


# --- Calls in them


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@feature("calls in branches of `tf.cond`, `tf.switch_case`, `tf.case`", gradients=True)
def test_calls_in_branches(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def some():
            odd = lambda: tf.sin(walk(n - 1, x)) * w  # noqa: E731
            even = lambda: walk(n - 1, x) + walk(n - 2, x * w)  # noqa: E731
            cases = [(tf.equal(n % 2, 1), odd)]
            return tf.switch_case(n // 4, [lambda: tf.case(cases, even), even])

        walk.output(tf.cond(n < 1, lambda: x, some))

    def plain(n, x):
        if n < 1:
            return x
        if n < 4 and n % 2 == 1:
            return tf.sin(plain(n - 1, x)) * w
        return plain(n - 1, x) + plain(n - 2, x * w)

    check_same(lambda x: walk(6, x), lambda x: plain(6, x), tf.constant(0.7), w)


@feature("calls in the body of a `tf.while_loop`", gradients=True)
def test_calls_in_a_loop(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def children():
            turn = lambda i, y: (i + 1, y + tf.sin(walk(i, x * w)))  # noqa: E731
            return tf.while_loop(lambda i, _: i < n, turn, (0, x))[1]

        walk.output(tf.cond(n < 1, lambda: x, children))

    def plain(n, x):
        return x + sum([tf.sin(plain(i, x * w)) for i in range(n)], tf.constant(0.0))

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@feature(
    "a `tf.TensorArray` of known length that a loop around a call writes and reads",
    gradients=True,
)
def test_lists_around_calls(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def children():
            def turn(i, found):
                return i + 1, found.write(i, walk(i - 1, x * w) + found.read(i - 1))

            found = tf.TensorArray(tf.float32, 4, clear_after_read=False).write(0, x)
            found = tf.while_loop(lambda i, _: i < n + 1, turn, (1, found))[1]
            return found.read(n - 1) * found.read(n)

        walk.output(tf.cond(n < 1, lambda: x, children))

    def plain(n, x):
        if n < 1:
            return x
        found = [x]
        for i in range(1, n + 1):
            found.append(plain(i - 1, x * w) + found[-1])
        return found[n - 1] * found[n]

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@pytest.mark.parametrize("growing", [False, True])
@feature(
    "a `tf.TensorArray` that grows, or of computed length, in such a loop",
    gradients=True,
    refused="the length of its list may differ between activations",
)
def test_lists_of_unlike_lengths_around_calls(growing, w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def children():
            def turn(i, found):
                return i + 1, found.write(i, walk(i, x * w))

            size = 0 if growing else n
            found = tf.TensorArray(tf.float32, size, dynamic_size=growing)
            found = tf.while_loop(lambda i, _: i < n, turn, (0, found))[1]
            return tf.sin(x) + tf.reduce_sum(found.stack())

        walk.output(tf.cond(n < 1, lambda: x, children))

    def plain(n, x):
        return tf.sin(x) + sum([plain(i, x * w) for i in range(n)]) if n else x

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


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


@feature("calls in the condition of a `tf.while_loop`", gradients=True)
def test_calls_in_a_condition(w):
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)

        def grown():
            small = lambda y: walk(n - 1, y) < 2.0  # noqa: E731
            return tf.while_loop(small, lambda y: (y * w + 0.5,), (x,))[0]

        walk.output(tf.cond(n < 1, lambda: x, grown))

    def plain(n, x):
        while n > 0 and plain(n - 1, x) < 2.0:
            x = x * w + 0.5
        return x

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


CHILDREN = tf.constant([[1, 2], [4, 3], [4, -1], [-1, -1], [-1, -1]])


def plain_tree(node, x, w):
    below = [plain_tree(int(c), x * w, w) ** 2 for c in CHILDREN[node] if c >= 0]
    return tf.sin(x) + sum(below, tf.constant(0.0))


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


@feature("AutoGraph's `if` around calls, with `output_signature=`", gradients=True)
def test_an_if_statement_around_calls(w):
    @tf.function
    def run(n, x):
        with rtf.SubGraph("walk", output_signature=tf.float32) as walk:
            n_left, y = walk.input(tf.int32), walk.input(tf.float32)
            if n_left < 1:
                found = y
            elif y > 1.0:
                found = tf.sin(walk(n_left - 1, y * w))
            else:
                found = walk(n_left - 1, y + w) * w
            walk.output(found)
        return walk(n, x)

    def plain(n, y):
        if n < 1:
            return y
        return tf.sin(plain(n - 1, y * w)) if y > 1.0 else plain(n - 1, y + w) * w

    check_same(lambda x: run(4, x), lambda x: plain(4, x), tf.constant(0.7), w)


@feature("`tf.function`s, with and without calls in them", gradients=True)
def test_functions(w):
    scaled = tf.function(lambda y, n: tf.sin(y) * w + tf.cast(n, y.dtype))
    check_rows(scaled, ROWS, w)
    with rtf.SubGraph("walk") as walk:
        n, x = walk.input(tf.int32), walk.input(tf.float32)
        further = tf.function(lambda: scaled(walk(n - 1, x), n))
        walk.output(tf.cond(n < 1, lambda: x, lambda: further()))

    def plain(n, x):
        return x if n < 1 else scaled(plain(n - 1, x), n)

    check_same(lambda x: walk(3, x), lambda x: plain(3, x), tf.constant(0.7), w)


@feature(
    "`tf.function`s with `jit_compile=True`, without calls in them", gradients=True
)
def test_compiled_functions(w):
    compiled = tf.function(lambda y: tf.sin(y) * 2.0, jit_compile=True)
    check_rows(lambda y, n: compiled(y) * w + tf.cast(n, y.dtype), ROWS, w)


@feature("calls of several SubGraphs that call each other", gradients=True)
def test_mutual_recursion(w):
    odd = rtf.SubGraph("odd", output_signature=tf.float32)
    with rtf.SubGraph("even") as even:
        n, x = even.input(tf.int32), even.input(tf.float32)
        even.output(tf.cond(n < 1, lambda: x, lambda: w * odd(n - 1, x)))
    with odd:
        n, x = odd.input(tf.int32), odd.input(tf.float32)
        odd.output(tf.cond(n < 1, lambda: -x, lambda: tf.sin(even(n - 1, x))))

    def plain(n, x, is_even=True):
        if n < 1:
            return x if is_even else -x
        rest = plain(n - 1, x, not is_even)
        return w * rest if is_even else tf.sin(rest)

    check_same(lambda x: even(5, x), lambda x: plain(5, x), tf.constant(0.7), w)


@feature("recursion that calls itself twice")
def test_two_calls():
    with rtf.SubGraph("fib") as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    assert fib.map(tf.range(12)).numpy().tolist() == list(map(fibonacci, range(12)))


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
