"""Programs in which faults are planted: what calls, shares, maps, loops and pushes.

Each is a function that defines one anew, and returns a function without arguments to
values and gradients.
"""

import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.graphs import define_evaluation, lattice

SIZE = 3
# ((0 1) 2), ((0 1) 2) 1; leaves have no children.
LEFT = tf.constant([-1, -1, -1, 0, 3, 4])
RIGHT = tf.constant([-1, -1, -1, 1, 2, 1])
# By node: where its children begin and end.
CHILDREN = tf.constant([0, 1, 0, 2, 3, 0, 4])
STARTS = tf.constant([0, 0, 0, 0, 2, 5, 7])


def weights():
    """Returns a matrix for two states, a table of words and a bias."""
    numbers = tf.reshape(tf.range(2.0 * SIZE * SIZE), [SIZE, 2 * SIZE])
    table = tf.reshape(tf.range(6.0 * SIZE), [6, SIZE])
    return [tf.Variable(0.2 * tf.sin(x)) for x in (numbers, table, tf.ones([SIZE]))]


def cell(matrix, bias):
    def inner(left, right):
        return tf.tanh(tf.linalg.matvec(matrix, tf.concat([left, right], 0)) + bias)

    return inner


def define_tree(matrix, table, bias):
    """Returns a SubGraph from a node to its state."""
    inner = cell(matrix, bias)
    with rtf.SubGraph("tree") as tree:
        node = tree.input(tf.int32)

        def children():
            return inner(tree(tf.gather(LEFT, node)), tree(tf.gather(RIGHT, node)))

        leaf = lambda: tf.sin(tf.gather(table, node))  # noqa: E731
        tree.output(tf.cond(tf.gather(LEFT, node) < 0, leaf, children))
    return tree


def with_gradients(loss, variables):
    """Returns a function to a loss and its gradients, all dense."""

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = loss()
        return [y, *map(tf.convert_to_tensor, tape.gradient(y, variables))]

    return step


def of_trees():
    variables = weights()
    tree = define_tree(*variables)
    return with_gradients(lambda: tf.reduce_sum(tree.map([5, 3])), variables)


def of_a_lattice():
    matrix, table, bias = variables = weights()
    leaf = lambda node: tf.sin(tf.gather(table, node % 6))  # noqa: E731
    value = define_evaluation(lattice(3), leaf, cell(matrix, bias))
    return with_gradients(lambda: tf.reduce_sum(value(8)), variables)


def of_lists():
    _, table, bias = weights()
    output = tf.TensorSpec([SIZE])
    with rtf.SubGraph("lists", output_signature=output) as lists:
        node = lists.input(tf.int32)
        begin, end = tf.unstack(tf.gather(STARTS, [node, node + 1]))
        below = lists.map(CHILDREN[begin:end])
        lists.output(tf.gather(table, node) + tf.reduce_sum(bias * below**2, 0))
    return with_gradients(lambda: tf.reduce_sum(lists(5)), [table, bias])


def of_loops():
    w = tf.Variable(0.7)
    with rtf.SubGraph("loops") as loops:
        n = loops.input(tf.int32)

        def turn(k, total):
            return k + 1, total + w * loops(n - 1 - k)

        def more():
            return tf.while_loop(lambda k, _: k < n, turn, (0, w))[1]

        by_size = [lambda: tf.sin(w), lambda: 2.0 * loops(n - 1), more]
        loops.output(tf.switch_case(tf.minimum(n, 2), by_size))
    return with_gradients(lambda: loops(3), [w])


def of_second_order():
    matrix, table, bias = weights()
    tree = define_tree(matrix, table, bias)

    def slope():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tree(4))
        return tf.reduce_sum(tape.gradient(y, matrix) ** 2)

    return with_gradients(slope, [matrix, bias])


def of_several_root_calls():
    variables = weights()
    tree = define_tree(*variables)
    w = tf.Variable(1.5)
    with rtf.SubGraph("chain") as chain:
        n = chain.input(tf.int32)
        y = tf.cond(n < 1, lambda: w, lambda: w * chain(n - 1))
        chain.push("y", y, index=n, size=4)
        chain.output(y)

    def loss():
        powers, pushed = chain(3, with_pushed=True)
        trees = tree(5) + tree(4) + pushed["y"][:SIZE]
        return powers * tf.reduce_sum(trees * chain(2))

    return with_gradients(loss, [*variables, w])


PROGRAMS = {
    "trees": of_trees,
    "a lattice": of_a_lattice,
    "lists": of_lists,
    "loops": of_loops,
    "second order": of_second_order,
    "several root calls": of_several_root_calls,
}
