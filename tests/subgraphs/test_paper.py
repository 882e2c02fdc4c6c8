"""The programs of Jeong et al. 2018, and others that textbooks recur with."""

from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

pytestmark = pytest.mark.every_executor

EMBEDDING, HIDDEN = 3, 4


class Tree(NamedTuple):
    """A binary tree as in Figures 1 and 2: leaves come first, then what joins them."""

    leaves: tf.Tensor  # The word of each leaf.
    children: tf.Tensor  # The two children of each internal node.

    @property
    def num_leaves(self):
        return len(self.leaves)

    @property
    def root(self):
        return len(self.leaves) + len(self.children) - 1


TREES = {
    "one leaf": Tree([3], np.zeros([0, 2])),
    "two leaves": Tree([1, 2], [[0, 1]]),
    "balanced": Tree([0, 1, 2, 3], [[0, 1], [2, 3], [4, 5]]),
    "a chain": Tree([4, 3, 2, 1], [[0, 1], [4, 2], [5, 3]]),
    "a chain to the right": Tree([4, 3, 2, 1], [[2, 3], [1, 4], [0, 5]]),
}


class Cell:
    """A binary TreeLSTM (Tai et al. 2015, section 3.2) with forget gates of its own."""

    def __init__(self, seed=0):
        draw = np.random.default_rng(seed).normal
        self.words = tf.Variable(draw(size=[5, EMBEDDING]))
        self.leaf_weights = tf.Variable(draw(size=[EMBEDDING, 3 * HIDDEN]))
        self.weights = tf.Variable(draw(size=[2 * HIDDEN, 5 * HIDDEN]))
        self.bias = tf.Variable(draw(size=[5 * HIDDEN]))

    def embed(self, word):
        return tf.gather(self.words, word)

    def leaf(self, x):
        i, o, u = tf.split(tf.linalg.matvec(self.leaf_weights, x, transpose_a=True), 3)
        c = tf.sigmoid(i) * tf.tanh(u)
        return tf.sigmoid(o) * tf.tanh(c), c

    def join(self, left, right):
        both = tf.concat([left[0], right[0]], 0)
        gates = tf.linalg.matvec(self.weights, both, transpose_a=True) + self.bias
        i, fl, fr, o, u = tf.split(gates, 5)
        c = tf.sigmoid(i) * tf.tanh(u)
        c += tf.sigmoid(fl) * left[1] + tf.sigmoid(fr) * right[1]
        return tf.sigmoid(o) * tf.tanh(c), c


def figure_1(tree, cell):
    """Iterative implementation of the TreeLSTM model."""
    num_leaves = tf.shape(tree.leaves)[0]
    num_internals = tf.shape(tree.children)[0]
    size = num_leaves + num_internals
    states = [
        tf.TensorArray(tf.float64, size, element_shape=[HIDDEN], clear_after_read=False)
        for _ in range(2)
    ]

    def compute_leaf(index, h, c):
        state = cell.leaf(cell.embed(tree.leaves[index]))
        return index + 1, h.write(index, state[0]), c.write(index, state[1])

    def compute_internal(index, h, c):
        left, right = tree.children[index][0], tree.children[index][1]
        state = cell.join((h.read(left), c.read(left)), (h.read(right), c.read(right)))
        at = num_leaves + index
        return index + 1, h.write(at, state[0]), c.write(at, state[1])

    _, *states = tf.while_loop(lambda i, *_: i < num_leaves, compute_leaf, (0, *states))
    _, h, c = tf.while_loop(
        lambda i, *_: i < num_internals, compute_internal, (0, *states)
    )
    return h.read(size - 1), c.read(size - 1)


def figure_2(tree, cell):
    """Recursive implementation of the TreeLSTM model with SubGraph definitions."""
    num_leaves = tf.shape(tree.leaves)[0]
    with rtf.SubGraph() as tree_lstm:
        idx = tree_lstm.input(tf.int32)

        def compute_leaf_node():
            return cell.leaf(cell.embed(tree.leaves[idx]))

        def compute_internal_node():
            children = tree.children[idx - num_leaves]
            left_state = tree_lstm(children[0])
            right_state = tree_lstm(children[1])
            return cell.join(left_state, right_state)

        tree_lstm.output(
            tf.cond(idx < num_leaves, compute_leaf_node, compute_internal_node)
        )
    return tree_lstm(num_leaves + tf.shape(tree.children)[0] - 1)


def by_hand(tree, cell):
    """The states of one node after the other, eagerly."""
    states = [cell.leaf(cell.embed(word)) for word in tree.leaves]
    for left, right in np.array(tree.children, int):
        states.append(cell.join(states[left], states[right]))
    return states[-1]


def run(program, tree, cell):
    leaves, children = (tf.constant(x, tf.int32) for x in tree)
    traced = tf.function(lambda *tree: program(Tree(*tree), cell))
    return traced(leaves, children)


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_figure_2_computes_a_tree_lstm(tree):
    cell = Cell()
    np.testing.assert_allclose(run(figure_2, tree, cell), by_hand(tree, cell))


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_figure_2_computes_what_figure_1_computes(tree):
    cell = Cell()
    np.testing.assert_allclose(run(figure_2, tree, cell), run(figure_1, tree, cell))


def test_figure_2_runs_trees_of_every_shape_without_a_new_trace():
    cell, traces = Cell(), []

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None, 2], tf.int32),
        ]
    )
    def traced(leaves, children):
        traces.append(1)
        return figure_2(Tree(leaves, children), cell)

    for tree in TREES.values():
        leaves, children = (tf.constant(x, tf.int32) for x in tree)
        np.testing.assert_allclose(traced(leaves, children), by_hand(tree, cell))
    assert len(traces) == 1


# --- Recursion in numbers


def test_fibonacci_numbers():
    with rtf.SubGraph("fib") as fib:
        n = fib.input(tf.int64)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    assert [int(fib(n)) for n in (0, 1, 2, 15)] == [0, 1, 1, 610]


def test_a_factorial_that_recurs_ten_thousand_times():
    with rtf.SubGraph("log_factorial") as log_factorial:
        n = log_factorial.input(tf.float64)
        more = lambda: tf.math.log(n) + log_factorial(n - 1)  # noqa: E731
        log_factorial.output(tf.cond(n < 1, lambda: tf.zeros([], tf.float64), more))
    found = float(log_factorial(10_000.0))
    assert found == pytest.approx(
        float(tf.math.lgamma(tf.constant(10_001.0, tf.float64)))
    )


def test_the_ackermann_function_calls_on_what_it_returns():
    with rtf.SubGraph("ackermann") as ackermann:
        m, n = ackermann.input(tf.int32), ackermann.input(tf.int32)
        ackermann.output(
            tf.cond(
                tf.equal(m, 0),
                lambda: n + 1,
                lambda: tf.cond(
                    tf.equal(n, 0),
                    lambda: ackermann(m - 1, 1),
                    lambda: ackermann(m - 1, ackermann(m, n - 1)),
                ),
            )
        )
    assert [int(ackermann(m, 3)) for m in range(4)] == [4, 5, 9, 61]


def test_the_takeuchi_function_calls_with_three_calls():
    with rtf.SubGraph("tak") as tak:
        x, y, z = (tak.input(tf.int32) for _ in range(3))

        def deeper():
            return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))

        tak.output(tf.cond(x <= y, lambda: z, deeper))
    assert int(tak(8, 4, 2)) == 3


def test_even_and_odd_are_defined_by_each_other():
    odd = rtf.SubGraph("odd", output_signature=tf.bool)
    with rtf.SubGraph("even") as even:
        n = even.input(tf.int32)
        even.output(tf.cond(n < 1, lambda: True, lambda: odd(n - 1)))
    with odd:
        n = odd.input(tf.int32)
        odd.output(tf.cond(n < 1, lambda: False, lambda: even(n - 1)))
    assert even.map(tf.range(6)).numpy().tolist() == [True, False] * 3


def test_hofstadters_sequences_are_defined_by_each_other():
    male = rtf.SubGraph("male", output_signature=tf.int32)
    with rtf.SubGraph("female") as female:
        n = female.input(tf.int32)
        female.output(tf.cond(n < 1, lambda: 1, lambda: n - male(female(n - 1))))
    with male:
        n = male.input(tf.int32)
        male.output(tf.cond(n < 1, lambda: 0, lambda: n - female(male(n - 1))))
    assert female.map(tf.range(10)).numpy().tolist() == [1, 1, 2, 2, 3, 3, 4, 5, 5, 6]
    assert male.map(tf.range(10)).numpy().tolist() == [0, 0, 1, 2, 2, 3, 4, 4, 5, 6]


# --- Recursion over data


def define_fold(combine, start, items):
    with rtf.SubGraph("fold_right") as fold_right:
        i = fold_right.input(tf.int32)
        more = lambda: combine(items[i], fold_right(i + 1))  # noqa: E731
        fold_right.output(tf.cond(i < tf.size(items), more, lambda: start))
    return fold_right


def test_a_fold_over_a_list_of_numbers():
    items = tf.constant([7.0, 2.0, 3.0])
    fold = define_fold(lambda item, rest: item - rest, tf.constant(1.0), items)
    assert float(fold(0)) == 7 - (2 - (3 - 1))


def test_a_fold_over_a_list_of_strings():
    items = tf.constant(["a", "b", "c"])
    combine = lambda item, rest: tf.strings.join(["(", item, rest, ")"])  # noqa: E731
    assert define_fold(combine, tf.constant("."), items)(0).numpy() == b"(a(b(c.)))"


def test_a_fold_over_an_empty_list():
    items = tf.zeros([0])
    assert float(define_fold(tf.add, tf.constant(5.0), items)(0)) == 5


@pytest.mark.falls_back("an unknown shape")
def test_a_sort_divides_and_merges():
    with rtf.SubGraph("quicksort") as quicksort:
        items = quicksort.input(tf.int32, [None])

        def divide():
            pivot, rest = items[:1], items[1:]
            smaller = quicksort(tf.boolean_mask(rest, rest < pivot[0]))
            larger = quicksort(tf.boolean_mask(rest, rest >= pivot[0]))
            return tf.concat([smaller, pivot, larger], 0)

        quicksort.output(tf.cond(tf.size(items) < 2, lambda: items, divide))
    numbers = np.random.default_rng(0).integers(100, size=40)
    assert quicksort(numbers).numpy().tolist() == sorted(numbers)


def test_a_tree_is_decided_while_the_program_runs():
    with rtf.SubGraph("leaves") as leaves:
        low, high = leaves.input(tf.float32), leaves.input(tf.float32)
        middle = (low + high) / 2
        close = tf.abs(high**3 - low**3) < 0.5
        both = lambda: leaves(low, middle) + leaves(middle, high)  # noqa: E731
        leaves.output(tf.cond(close, lambda: 1, both))

    def by_python(low, high):
        if abs(high**3 - low**3) < 0.5:
            return 1
        middle = (low + high) / 2
        return by_python(low, middle) + by_python(middle, high)

    assert int(leaves(0.0, 2.0)) == by_python(0.0, 2.0) > 8
