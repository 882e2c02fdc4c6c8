"""Trees from the root down, and up and then down; states beside outputs."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers import equations
from tests.layers.cells import UNITS, children_of, random_weights

pytestmark = pytest.mark.slow

SIZE = 3
NESTED = [[1, 2, [3, 4, 5]], 6, [[7], 8]]
executors = pytest.mark.parametrize("executor", ["batched", "dataflow"])


def trees():
    return rtf.data.from_nested(NESTED, binary=False)


def x_of(forest, size=SIZE):
    random = np.random.default_rng(0)
    shape = [int(forest.num_nodes), size]
    return tf.Variable(random.normal(size=shape), dtype=tf.float64)


def built(encoder):
    encoder.build((None,), (None, SIZE))
    random_weights(encoder)
    return encoder


def going_down(cell, executor="batched", **choices):
    encoder = rtf.layers.TreeEncoder(
        cell,
        executor=executor,
        go_down=True,
        return_nodes=True,
        dtype="float64",
        **choices,
    )
    return built(encoder)


def down_by_hand(cell, forest, x):
    """Returns the state of each node, by the equations, from the roots down."""
    weights = {w.name: w.numpy() for w in cell.weights}
    is_nary = isinstance(cell, rtf.layers.NaryTreeLSTMCell)
    equation = (equations.Nary if is_nary else equations.ChildSum)(weights)
    links, states = children_of(forest), {}

    def visit(node, above):
        states[node] = equation(x[node], above)
        for child in links[node]:
            visit(child, [states[node]])

    for root in np.atleast_1d(forest.roots):
        visit(int(root), [])
    return [states[node] for node in range(len(links))]


def cells(**choices):
    return [
        rtf.layers.ChildSumTreeLSTMCell(UNITS, dtype="float64", **choices),
        rtf.layers.NaryTreeLSTMCell(UNITS, 1, dtype="float64", **choices),
        rtf.layers.NaryTreeLSTMCell(UNITS, 2, dtype="float64", **choices),
    ]


@executors
@pytest.mark.parametrize("which", range(3))
def test_going_down_each_node_is_made_of_its_parent(which, executor):
    forest = trees()
    encoder = going_down(cells()[which], executor, return_state=True)
    x = x_of(forest)
    outputs, state = encoder(forest, x)
    h, c = zip(*down_by_hand(encoder.cell, forest, x.numpy()), strict=True)
    np.testing.assert_allclose(outputs, h, rtol=1e-9)
    np.testing.assert_allclose(state.h, h, rtol=1e-9)
    np.testing.assert_allclose(state.c, c, rtol=1e-9)


@executors
def test_gradients_of_going_down_are_numerical_ones(executor):
    forest = trees()
    encoder = going_down(cells()[0], executor)
    x = x_of(forest)

    def loss():
        return tf.reduce_sum(encoder(forest, x) ** 2)

    sources = [x, encoder.cell.recurrent_kernel.value, encoder.cell.forget_kernel.value]
    with tf.GradientTape() as tape:
        value = loss()
    step = 1e-6
    for source, gradient in zip(sources, tape.gradient(value, sources), strict=True):
        start, found = source.numpy(), tf.convert_to_tensor(gradient).numpy()
        for index in [(0, 0), (1, 2), (-1, -1)]:
            moved = start.copy()
            moved[index] += step
            source.assign(moved)
            above = loss()
            moved[index] -= 2 * step
            source.assign(moved)
            expected = (above - loss()) / (2 * step)
            source.assign(start)
            np.testing.assert_allclose(found[index], expected, rtol=1e-5, atol=1e-7)


def test_one_tree_and_binary_trees_go_down_alike():
    binary = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    x = x_of(binary)
    encoder = going_down(cells()[0])
    expected = encoder(binary.with_children(), x)
    np.testing.assert_allclose(encoder(binary, x), expected, rtol=1e-12)
    one, size = binary[1], int(binary[1].num_nodes)
    np.testing.assert_allclose(encoder(one, x[-size:]), expected[-size:], rtol=1e-9)
    assert encoder(binary[:0], x[:0]).shape == (0, UNITS)


@executors
def test_a_node_with_several_parents_is_made_of_all_of_them(executor):
    diamond = rtf.data.Forest(
        tokens=[1, 2, 3, 4], children=[[], [0], [0], [1, 2]], roots=[3], sizes=[4]
    )
    encoder = going_down(cells()[0], executor, dag=True)
    x = x_of(diamond)
    weights = {w.name: w.numpy() for w in encoder.cell.weights}
    equation = equations.ChildSum(weights)
    top = equation(x.numpy()[3], [])
    left, right = (equation(x.numpy()[node], [top]) for node in (1, 2))
    bottom = equation(x.numpy()[0], [left, right])
    expected = [state[0] for state in (bottom, left, right, top)]
    np.testing.assert_allclose(encoder(diamond, x), expected, rtol=1e-9)


def test_links_that_are_no_trees_are_refused_before_they_are_turned():
    encoder = going_down(cells()[0])
    wrong = rtf.data.Forest(tokens=[1, 2], children=[[7], []], roots=[0], sizes=[2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        encoder(wrong, x_of(wrong))


@pytest.mark.parametrize(
    ("make", "choices", "message"),
    [
        (rtf.layers.ChildSumTreeLSTMCell, {}, "return_nodes=True"),
        (rtf.layers.TreeLSTMCell, {"return_nodes": True}, "one parent.*takes 2"),
        (
            rtf.layers.NaryTreeLSTMCell,
            {"return_nodes": True, "dag": True},
            "any number of parents.*takes 2",
        ),
    ],
)
def test_what_cannot_go_down_is_refused(make, choices, message):
    with pytest.raises(ValueError, match=message):
        rtf.layers.TreeEncoder(make(UNITS), go_down=True, **choices)


# --- Up, then down


def bidirectional(executor="batched"):
    return built(
        rtf.layers.BidirectionalTreeEncoder(
            rtf.layers.ChildSumTreeLSTMCell(UNITS, dtype="float64"),
            rtf.layers.NaryTreeLSTMCell(2, 1, dtype="float64"),
            executor=executor,
            dtype="float64",
        )
    )


@executors
def test_up_and_then_down_is_both_encoders_one_after_the_other(executor):
    forest, encoder = trees(), bidirectional(executor)
    x = x_of(forest)
    up = np.asarray(encoder(forest, x))[:, :UNITS]
    plain = rtf.layers.TreeEncoder(
        encoder.up.cell, return_nodes=True, dtype="float64", executor=executor
    )
    np.testing.assert_allclose(up, plain(forest, x), rtol=1e-12)
    down = [h for h, _ in down_by_hand(encoder.down.cell, forest, up)]
    np.testing.assert_allclose(encoder(forest, x)[:, UNITS:], down, rtol=1e-9)


def test_every_node_knows_the_whole_tree_and_no_other():
    forest, encoder = trees(), bidirectional()
    x = x_of(forest)
    splits = forest.row_splits.numpy()
    with tf.GradientTape() as tape:
        first_leaf = tf.reduce_sum(encoder(forest, x)[0])
    gradient = tf.convert_to_tensor(tape.gradient(first_leaf, x)).numpy()
    assert np.all(np.abs(gradient[: splits[1]]).sum(1) > 0)
    assert not np.any(gradient[splits[1] :])


def test_both_executors_have_the_same_gradients_up_and_down():
    forest = trees()
    x = x_of(forest)
    found = []
    for executor in ("batched", "dataflow"):
        encoder = bidirectional(executor)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(encoder(forest, x) ** 2)
        gradients = tape.gradient(loss, [x, *encoder.trainable_variables])
        found.append([tf.convert_to_tensor(g) for g in gradients])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_the_same_cell_for_both_ways_is_refused():
    cell = rtf.layers.ChildSumTreeLSTMCell(UNITS)
    with pytest.raises(ValueError, match="Make a second cell"):
        rtf.layers.BidirectionalTreeEncoder(cell, cell)


def test_a_model_that_goes_up_and_down_trains_and_is_saved(tmp_path):
    forest = rtf.data.from_nested([[1, [2, 3]], [4, 5], [[6, 1], [2, 4]]])
    encoder = rtf.layers.BidirectionalTreeEncoder(
        rtf.layers.TreeLSTMCell(UNITS),
        rtf.layers.ChildSumTreeLSTMCell(UNITS),
        keras.layers.Embedding(10, SIZE),
    )
    model = keras.Sequential([rtf.layers.ForestInput(), encoder, keras.layers.Dense(1)])
    assert model.output_shape == (None, 1)
    optimizer = keras.optimizers.Adam(0.05)
    target = tf.cast(forest.tokens > 3, tf.float32)[:, tf.newaxis]
    losses = []
    for _ in range(15):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(forest) - target) ** 2)
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again(forest), model(forest), rtol=1e-5)
    for ways in zip(again.layers[0].cells, encoder.cells, strict=True):
        assert ways[0].get_config() == ways[1].get_config()


# --- States, and several outputs


class Both(keras.layers.Layer):
    """The sum and the number of words below a node."""

    def leaf(self, x):
        return {"count": tf.ones([], x.dtype), "sum": x}

    def call(self, children, x):
        left, right = children
        return tf.nest.map_structure(tf.add, left, right)


class Shown(Both):
    def output_of(self, state):
        return {"mean": state["sum"] / state["count"], "all": (state["sum"],)}


def numbers():
    return rtf.data.from_nested([[1, [2, 3]], [4, 5]])


def test_a_dict_says_which_part_is_the_output():
    encoder = rtf.layers.TreeEncoder(Both())
    with pytest.raises(ValueError, match=r"\['count', 'sum'\].*output_of"):
        encoder(numbers(), x_of(numbers()))


@executors
@pytest.mark.parametrize("return_nodes", [True, False])
def test_an_output_may_be_a_structure_and_states_stand_behind_it(
    return_nodes, executor
):
    forest = numbers()
    x = tf.cast(tf.maximum(forest.tokens, 0), tf.float32)[:, tf.newaxis]
    encoder = rtf.layers.TreeEncoder(
        Shown(), return_nodes=return_nodes, return_state=True, executor=executor
    )
    outputs, state = encoder(forest, x)
    roots = [
        tf.gather(part, forest.roots) if return_nodes else part
        for part in (outputs["mean"], outputs["all"][0], state["count"])
    ]
    assert roots[0].numpy().tolist() == [[2.0], [4.5]]
    assert roots[1].numpy().tolist() == [[6.0], [9.0]]
    assert roots[2].numpy().tolist() == [3.0, 2.0]
    rows = int(forest.num_nodes) if return_nodes else 2
    assert outputs["mean"].shape == (rows, 1)


def test_one_tree_has_one_state():
    encoder = rtf.layers.TreeEncoder(Shown(), return_state=True)
    x = tf.constant([[1.0], [2.0], [0.0]])
    forest = rtf.data.from_nested([[1, 2]])
    outputs, state = encoder(forest[0], x)
    assert float(outputs["mean"][0]) == 1.5
    assert float(state["count"]) == 2


def test_a_functional_model_takes_states_and_a_file_keeps_them(tmp_path):
    words = keras.layers.Embedding(10, SIZE)
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(UNITS), words, return_state=True
    )
    forest = rtf.layers.ForestInput()
    h, state = encoder(forest)
    model = keras.Model(forest, [h, state.c])
    assert [tuple(o.shape) for o in model.outputs] == [(None, UNITS)] * 2
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    for one, other in zip(again(numbers()), model(numbers()), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
