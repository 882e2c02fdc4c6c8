"""Of many errors at once, a root call has the first by path: the leftmost."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.executor("dataflow")

REPETITIONS = 50
DEPTH = 5


def path_of(call):
    """Returns where a failing root call says that it failed."""
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        call()
    (path,) = re.findall(r"SubGraph '\w+' failed at (.*?): ", str(raised.value))
    return path


def paths_of(call):
    return {path_of(call) for _ in range(REPETITIONS)}


def define_tree(fails):
    """Returns a SubGraph that visits a balanced binary tree of 2^DEPTH leaves.

    The children of node i are 2i and 2i + 1. A leaf fails if `fails(i)`.
    """
    with rtf.SubGraph("tree") as tree:
        i = tree.input(tf.int32)

        def leaf():
            tf.debugging.assert_equal(fails(i), False, message="a bad leaf")
            return 1.0

        both = lambda: tree(2 * i) + tree(2 * i + 1)  # noqa: E731
        tree.output(tf.cond(i >= 2**DEPTH, leaf, both))
    return tree


def path_to(leaf):
    """Returns the path of a leaf, from its number."""
    return " → ".join(["tree", *(f"call#{bit}" for bit in f"{leaf:b}"[1:])])


def first_leaf(node=1):
    """Returns the leftmost leaf below a node."""
    while node < 2**DEPTH:
        node *= 2
    return node


def test_where_all_leaves_fail_the_leftmost_is_reported():
    tree = define_tree(lambda i: i > 0)
    assert paths_of(lambda: tree(1)) == {path_to(first_leaf())}


def test_where_some_leaves_fail_the_leftmost_of_them_is_reported():
    bad = [37, 38, 51, 63]
    tree = define_tree(lambda i: tf.reduce_any(tf.equal(i, bad)))
    assert paths_of(lambda: tree(1)) == {path_to(37)}


@pytest.mark.parametrize("bad", [[32, 63], [47, 48]], ids=str)
def test_of_two_failing_leaves_the_left_is_reported(bad):
    tree = define_tree(lambda i: tf.reduce_any(tf.equal(i, bad)))
    assert paths_of(lambda: tree(1)) == {path_to(bad[0])}


def test_a_failure_high_in_the_tree_is_reported_if_it_is_further_left():
    """The left one is shallow and the right one deep, and the other way round."""
    with rtf.SubGraph("tree") as tree:
        i, bad = tree.input(tf.int32), tree.input(tf.int32, [2])
        fails = tf.reduce_any(tf.equal(i, bad))
        tf.debugging.assert_equal(fails, False, message="a bad node")
        both = lambda: tree(2 * i, bad) + tree(2 * i + 1, bad)  # noqa: E731
        tree.output(tf.cond(i >= 2**DEPTH, lambda: 1.0, both))
    assert paths_of(lambda: tree(1, [4, 63])) == {path_to(4)}
    assert paths_of(lambda: tree(1, [32, 7])) == {path_to(32)}


def test_sites_are_compared_by_number_and_not_as_text():
    """Site 2 comes before site 10."""
    with rtf.SubGraph("leaf") as leaf:
        k = leaf.input(tf.int32)
        tf.debugging.assert_less(k, 2, message="a bad leaf")
        leaf.output(k)
    with rtf.SubGraph("wide") as wide:
        n = wide.input(tf.int32)
        wide.output(tf.add_n([leaf(n + k) for k in range(12)]))
    assert paths_of(lambda: wide(0)) == {"wide → call#2 (leaf)"}


def test_the_first_failing_row_of_a_map_is_reported():
    tree = define_tree(lambda i: i > 0)
    path = path_to(first_leaf(2)).removeprefix("tree → call#0")
    assert paths_of(lambda: tree.map(tf.range(2, 20))) == {f"tree[row 0]{path}"}


def test_rows_that_succeed_come_before_the_first_that_fails():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        tf.debugging.assert_less(n, 10, message="a bad row")
        f.output(n)
    rows = [0, 1, 12, 3, 11, 10, 2, 15] * 4
    assert paths_of(lambda: f.map(rows)) == {"f[row 2]"}


def test_iterations_of_a_loop_are_compared_by_their_order():
    with rtf.SubGraph("leaf") as leaf:
        k = leaf.input(tf.int32)
        tf.debugging.assert_less(k, 3, message="a bad leaf")
        leaf.output(k)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        array = tf.TensorArray(tf.int32, n, element_shape=[])
        step = lambda k, a: (k + 1, a.write(k, leaf(k)))  # noqa: E731
        array = tf.while_loop(lambda k, _: k < n, step, (0, array))[1]
        f.output(tf.reduce_sum(array.stack()))
    x = tf.constant(20)
    assert len(paths_of(lambda: f(x))) == 1


def define_endless_beside_a_failure():
    """Returns a SubGraph whose first call never ends, and whose second fails."""
    with rtf.SubGraph("bad") as bad:
        k = bad.input(tf.int32)
        tf.debugging.assert_less(k, 0, message="a bad call")
        bad.output(k)
    with rtf.SubGraph("endless") as endless:
        n = endless.input(tf.int32)
        endless.output(tf.cond(n < 0, lambda: n, lambda: endless(n + 1)))
    with rtf.SubGraph("both", options=rtf.Options(max_depth=300)) as both:
        n = both.input(tf.int32)
        both.output(endless(n) + bad(n))
    return both


def test_a_limit_reached_before_a_failure_is_reported_whichever_comes_first():
    both = define_endless_beside_a_failure()
    x = tf.constant(0)
    for _ in range(REPETITIONS):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="max_depth=300"):
            both(x)


def test_a_failure_ends_what_comes_after_it_however_deep_that_is():
    """Without a limit, the chain after the failure would go on for ever."""
    with rtf.SubGraph("f", options=rtf.Options(max_depth=None)) as f:
        n = f.input(tf.int32)

        def fail():
            # Late: the chain is deep by then.
            more = lambda k: k < 20_000  # noqa: E731
            end = tf.while_loop(more, lambda k: (k + 1,), (0,))[0]
            check = tf.debugging.assert_less(end, 0, message="a bad call")
            with tf.control_dependencies([check]):
                return tf.identity(n)

        chain = lambda: f(n + 1)  # noqa: E731
        start = lambda: f(-2) + f(1)  # noqa: E731
        f.output(tf.switch_case(tf.sign(n) + 1, [fail, start, chain]))
    assert path_of(lambda: f(tf.constant(0))) == "f → call#0"


# --- Gradient calls


@tf.custom_gradient
def fails_backward(x, fails):
    """Returns x. Its gradient is an error where `fails`."""

    def gradient(upstream):
        check = tf.debugging.assert_equal(fails, False, message="a bad gradient")
        with tf.control_dependencies([check] if check is not None else []):
            return tf.identity(upstream), None

    return tf.identity(x), gradient


def define_weighted_tree(fails, w):
    """Returns a SubGraph like define_tree(), whose leaves fail in the gradient."""
    with rtf.SubGraph("tree") as tree:
        i = tree.input(tf.int32)
        leaf = lambda: fails_backward(w * tf.cast(i, tf.float32), fails(i))  # noqa: E731
        both = lambda: tree(2 * i) + tree(2 * i + 1)  # noqa: E731
        tree.output(tf.cond(i >= 2**DEPTH, leaf, both))
    return tree


@pytest.mark.parametrize("bad", [range(64), [37, 38, 51, 63], [47, 48]], ids=str)
def test_of_failing_gradient_calls_the_leftmost_is_reported(bad):
    w = tf.Variable(1.0)
    bad = list(bad)
    tree = define_weighted_tree(lambda i: tf.reduce_any(tf.equal(i, bad)), w)

    @tf.function
    def differentiate():
        with tf.GradientTape() as tape:
            y = tree(1)
        return tape.gradient(y, w)

    assert paths_of(differentiate) == {path_to(max(bad[0], first_leaf()))}


def test_of_failing_gradients_of_a_map_the_first_row_is_reported():
    w = tf.Variable(1.0)
    tree = define_weighted_tree(lambda i: i > 0, w)

    @tf.function
    def differentiate():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tree.map(tf.range(2, 10)))
        return tape.gradient(y, w)

    path = path_to(first_leaf(2)).removeprefix("tree → call#0")
    assert paths_of(differentiate) == {f"tree[row 0]{path}"}
