"""A vertex function computes what a loop over vertices does, and its SubGraph form."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.vertex import oracle
from tests.vertex.functions import (
    PAIR,
    SIZE,
    TREES,
    Weights,
    child_sum,
    matrix,
    n_ary,
    ragged,
    random_dag,
    rows,
)

pytestmark = pytest.mark.every_executor


def forest(binary):
    trees = rtf.data.Forest(
        tokens=[1, 2, 3, -1, -1, 4],
        left=[left for left, _ in TREES],
        right=[right for _, right in TREES],
        roots=[4, 5],
        sizes=[5, 1],
    )
    return trees if binary else trees.with_children()


GRAPHS = {
    "a binary forest": lambda: forest(binary=True),
    "a forest with children": lambda: forest(binary=False),
    "a ragged tensor": lambda: ragged(TREES),
    "a ragged tensor of int64": lambda: tf.cast(ragged(TREES), tf.int64),
    "a matrix": lambda: tf.constant(TREES),
    "a matrix of int64": lambda: tf.constant(TREES, tf.int64),
    "an array": lambda: np.array(TREES),
    "lists": lambda: TREES,
}


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_a_graph_may_be(make):
    function = n_ary(Weights(2), 2)
    x = rows(len(TREES))
    tree_lstm = rtf.vertex(state=PAIR)(function)
    expected = oracle.run(function, PAIR, TREES, x)
    assert_all_close(tree_lstm(make(), x), expected)
    assert_all_close(tf.function(tree_lstm)(make(), x), expected)


def test_a_tree_that_is_no_batch_is_a_graph():
    function = n_ary(Weights(2), 2)
    tree = forest(binary=True)[0]
    found = rtf.vertex(state=PAIR)(function)(tree, rows(5))
    assert_all_close(found, oracle.run(function, PAIR, TREES[:5], rows(5)))


def test_the_subgraph_form_computes_the_same():
    weights, x, trees = Weights(2), rows(len(TREES)), forest(binary=True)
    with rtf.SubGraph("by_hand", output_signature=PAIR, memo=lambda n: n) as by_hand:
        node = by_hand.input(tf.int32)

        def below(child):
            zeros = lambda: tuple(tf.zeros([SIZE]) for _ in PAIR)  # noqa: E731
            return tf.cond(child < 0, zeros, lambda: by_hand(child))

        (hl, cl), (hr, cr) = (
            below(tf.gather(side, node)) for side in (trees.left, trees.right)
        )
        parts = tf.concat([hl, hr, tf.gather(x, node)], 0)
        z = tf.linalg.matvec(weights.matrix, parts, transpose_a=True) + weights.bias
        i, o, u, fl, fr = tf.split(z, 5)
        c = tf.sigmoid(i) * tf.tanh(u) + tf.sigmoid(fl) * cl + tf.sigmoid(fr) * cr
        h = tf.sigmoid(o) * tf.tanh(c)
        by_hand.push("h", h, index=node, size=trees.num_nodes)
        by_hand.output((h, c))
    pushed = by_hand.map(trees.roots, with_pushed=True)[1]["h"]
    found = rtf.vertex(state=PAIR)(n_ary(weights, 2))(trees, x)
    np.testing.assert_array_equal(found, pushed)


@pytest.mark.parametrize("seed", range(6))
def test_vertices_have_any_number_of_in_neighbors(seed):
    lists, function = random_dag(seed), child_sum(Weights(1, seed))
    x = rows(len(lists), seed)
    over_all = rtf.vertex(state=PAIR)(function)
    expected = oracle.run(function, PAIR, lists, x)
    assert_all_close(over_all(ragged(lists), x), expected)
    assert_all_close(over_all(matrix(lists), x), expected)


def test_an_in_neighbor_that_is_not_there_is_zeros():
    state = tf.TensorSpec([2], tf.int32)

    @rtf.vertex(state=state)
    def slots(v):
        v.scatter([v.index, 1])
        v.push(tf.stack([v.gather(i) for i in range(4)]))

    none, first, second = [0, 0], [0, 1], [1, 1]
    of_matrix = slots(tf.constant([[-1, -1, -1], [0, -1, 0], [-1, 1, -1]])).numpy()
    assert of_matrix[1].tolist() == [first, none, first, none]
    assert of_matrix[2].tolist() == [none, second, none, none]
    of_lists = slots(tf.ragged.constant([[], [0], [1, 0]], dtype=tf.int32)).numpy()
    assert of_lists[1].tolist() == [first, none, none, none]
    assert of_lists[2].tolist() == [second, first, none, none]


def test_a_matrix_may_have_a_width_that_is_known_when_it_runs():
    @rtf.vertex(state=tf.int32)
    def second(v):
        v.scatter(10 + v.index)
        v.push(v.gather(1))

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def run(graph):
        return second(graph)

    assert run([[-1], [0]]).numpy().tolist() == [0, 0]
    assert run([[-1, -1], [0, 0]]).numpy().tolist() == [0, 10]
    assert run([[-1, -1, -1], [-1, 0, 0]]).numpy().tolist() == [0, 10]


def test_a_vertex_knows_its_number_and_how_many_in_neighbors_it_has():
    @rtf.vertex(state=tf.int32)
    def numbers(v):
        v.scatter(v.index)
        v.push(tf.stack([v.index, v.num_inputs]))

    lists = [[], [0], [1, 0, 1]]
    expected = [[0, 0], [1, 1], [2, 3]]
    assert numbers(ragged(lists)).numpy().tolist() == expected
    assert numbers(matrix(lists)).numpy().tolist() == expected


def test_a_state_is_any_structure_and_dtype():
    state = {"n": tf.int64, "xs": [tf.TensorSpec([2], tf.float64)], "even": tf.bool}

    @rtf.vertex(state=state)
    def f(v):
        below = v.gather(0)
        n = below["n"] + 1
        xs = [2 * below["xs"][0] + tf.cast(n, tf.float64)]
        v.scatter({"n": n, "xs": xs, "even": tf.equal(n % 2, 0)})
        v.push((n, {"xs": xs, "below": below["even"]}))

    n, rest = f(tf.constant([[-1], [0], [1]]))
    assert n.numpy().tolist() == [1, 2, 3]
    assert rest["xs"][0].numpy()[:, 0].tolist() == [1, 4, 11]
    assert rest["below"].numpy().tolist() == [False, False, True]


def test_what_has_a_name_is_returned_by_it():
    @rtf.vertex(state=tf.int32)
    def f(v):
        n = v.gather(0) + 1
        v.scatter(n)
        v.push(n, name="n")
        v.push((2 * n, 3 * n), name="more")

    found = f(tf.constant([[-1], [0]]))
    assert found["n"].numpy().tolist() == [1, 2]
    assert [table.numpy().tolist() for table in found["more"]] == [[2, 4], [3, 6]]


def test_a_push_in_a_branch_is_of_the_vertices_that_take_it():
    @rtf.vertex(state=tf.int32)
    def f(v):
        n = v.gather(0) + 1
        v.scatter(n)
        if n % 2 == 0:
            v.push(n, name="even")
        v.push(n, name="all")

    found = f(tf.constant([[-1], [0], [1], [2]]))
    assert found["even"].numpy().tolist() == [0, 2, 0, 4]
    assert found["all"].numpy().tolist() == [1, 2, 3, 4]


def test_branches_are_chosen_by_the_vertex():
    weights = Weights(2)

    def function(v):
        x = v.pull()

        def leaf():
            return tf.sin(x), x

        def inner():
            (hl, cl), (hr, cr) = v.gather(0), v.gather(1)
            return tf.tanh(hl * weights.bias[:SIZE] + hr), cl - cr + x

        h, c = tf.cond(tf.equal(v.num_inputs, 0), leaf, inner)
        v.scatter((h, c))
        v.push(h)

    found = rtf.vertex(state=PAIR)(function)(TREES, rows(len(TREES)))
    assert_all_close(found, oracle.run(function, PAIR, TREES, rows(len(TREES))))


def test_an_if_statement_is_one_of_vertices():
    @rtf.vertex(state=tf.float32)
    def f(v):
        y = v.pull()
        if v.num_inputs > 0:
            y += tf.reduce_sum(v.gather()) * 2.0
        v.scatter(y)
        v.push(y)

    found = f(ragged([[], [], [0, 1], [2]]), tf.constant([1.0, 2.0, 7.0, 0.0]))
    assert found.numpy().tolist() == [1, 2, 13, 26]


def test_inputs_are_any_structure():
    @rtf.vertex(state=tf.float32)
    def f(v):
        inputs = v.pull()
        y = v.gather(0) + inputs["x"][0] * tf.cast(inputs["n"], tf.float32)
        v.scatter(y)
        v.push(y)

    inputs = {"x": [np.array([1.0, 2.0, 3.0], np.float32)], "n": np.array([1, 2, 3])}
    assert f([[-1], [0], [1]], inputs).numpy().tolist() == [1, 5, 14]


def test_inputs_may_be_ragged():
    @rtf.vertex(state=tf.int32)
    def f(v):
        y = v.gather(0) + tf.reduce_sum(v.pull())
        v.scatter(y)
        v.push(y)

    assert f([[-1], [0]], tf.ragged.constant([[1, 2], [4]])).numpy().tolist() == [3, 7]


def test_several_calls_pull_rows_of_other_shapes():
    @rtf.vertex(state=tf.float32)
    def f(v):
        y = v.gather(0) + tf.reduce_sum(v.pull())
        v.scatter(y)
        v.push(y)

    graph = tf.constant([[-1], [0]])
    assert f(graph, tf.ones([2, 3])).numpy().tolist() == [3, 6]
    assert f(graph, tf.ones([2, 2, 2])).numpy().tolist() == [4, 8]
    assert f(graph, tf.ones([2])).numpy().tolist() == [1, 2]
    assert f(tf.constant([[-1], [0], [1]]), tf.ones([3])).numpy().tolist() == [1, 2, 3]


def test_a_graph_may_have_no_vertices_and_no_edges():
    function = child_sum(Weights(1))
    over_all = rtf.vertex(state=PAIR)(function)
    assert over_all(ragged([[]])[:0], rows(0)).shape == (0, SIZE)
    expected = oracle.run(function, PAIR, [[], []], rows(2))
    assert_all_close(over_all(ragged([[], []]), rows(2)), expected)
    nothing = tf.zeros([2, 0], tf.int32)
    assert_all_close(over_all(nothing, rows(2)), expected)
    slots = rtf.vertex(state=PAIR)(n_ary(Weights(2), 2))
    assert slots(nothing, rows(2)).shape == (2, SIZE)


def test_a_chain_may_be_long_and_its_numbers_in_any_order():
    @rtf.vertex(state=tf.int64)
    def count(v):
        n = v.gather(0) + 1
        v.scatter(n)
        v.push(n)

    size = 3000
    place = np.random.default_rng(0).permutation(size)
    graph = np.full([size, 1], -1)
    graph[place[1:], 0] = place[:-1]
    np.testing.assert_array_equal(count(graph).numpy()[place], np.arange(1, size + 1))


def test_a_vertex_function_pulls_what_another_one_pushed():
    first, second = n_ary(Weights(1, 1), 1), n_ary(Weights(1, 2), 1)
    graph, x = [[-1], [0], [1]], rows(3)
    layers = [rtf.vertex(state=PAIR)(f) for f in (first, second)]
    found = layers[1](graph, layers[0](graph, x))
    middle = oracle.run(first, PAIR, graph, x)
    assert_all_close(found, oracle.run(second, PAIR, graph, middle))


def test_a_state_may_be_gathered_in_a_loop():
    @rtf.vertex(state=tf.float32)
    def f(v):
        total = 0.0
        for k in range(3):
            total += (k + 1.0) * v.gather(k)
        y = total + v.pull()
        v.scatter(y)
        v.push(y)

    lists = [[], [0], [0, 1], [2, 1, 0]]
    found = f(ragged(lists), tf.constant([1.0, 1.0, 1.0, 1.0])).numpy()
    assert found.tolist() == [1, 2, 6, 1 + 6 + 4 + 3]
