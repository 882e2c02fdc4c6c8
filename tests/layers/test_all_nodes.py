"""The states of all nodes: asked for at once where the batched executor runs them."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.root_calls.fallback import observe
from tests.layers.cells import UNITS, node_by_node, output_of, random_weights

pytestmark = pytest.mark.slow

SIZE = 3
CHAIN = [1, [2, [3, [4, [5, [6, [7, 8]]]]]]]
NESTED = [CHAIN, 4, [[5, 6], [7, 8]]]
executors = pytest.mark.parametrize("executor", ["auto", "batched", "dataflow"])


class Doubled(keras.layers.Layer):
    """A cell; if it goes through Python, TensorFlow cannot batch it."""

    num_children = None

    def __init__(self, through_python=False):
        super().__init__()
        self.through_python = through_python

    def leaf(self, x):
        return x

    def call(self, children, x):
        found = 2.0 * tf.reduce_sum(children)
        if self.through_python:
            found = tf.py_function(lambda y: y, [found], tf.float32)
        return tf.ensure_shape(found, [])


def rows_of(forest):
    return tf.range(forest.num_nodes)


def doubled(forest, node):
    """Returns what `Doubled` makes of a node, whose row is its number."""
    left, right = int(forest.left[node]), int(forest.right[node])
    if left < 0:
        return float(node)
    return 2.0 * (doubled(forest, left) + doubled(forest, right))


def encoder_of(executor, cell, **choices):
    encoder = rtf.layers.TreeEncoder(
        cell(UNITS, dtype="float64"),
        executor=executor,
        return_nodes=True,
        dtype="float64",
        **choices,
    )
    encoder.build((None,), (None, SIZE))
    random_weights(encoder)
    return encoder


def inputs_of(forest):
    random = np.random.default_rng(3)
    return tf.constant(random.normal(size=[int(forest.num_nodes), SIZE]))


def launches_of(encoder, *arguments):
    step = tf.function(encoder)
    step(*arguments)
    explanation = rtf.explain(step)
    step(*arguments)
    return explanation


@pytest.mark.parametrize(
    ("cell", "count"),
    [(rtf.layers.TreeLSTMCell, 0), (rtf.layers.ChildSumTreeLSTMCell, 1)],
    ids=["pairs", "lists"],
)
def test_no_launch_goes_down(cell, count):
    """Lists of children are read by a launch: of all nodes at once."""
    chain = rtf.data.from_nested([CHAIN])
    explanation = launches_of(encoder_of("auto", cell), chain, inputs_of(chain))
    # One computes the leaves, and one each level.
    assert explanation.executor == "batched"
    assert sum(explanation.launches.values()) == count + 8


@executors
@pytest.mark.parametrize(
    "cell", [rtf.layers.TreeLSTMCell, rtf.layers.ChildSumTreeLSTMCell]
)
def test_it_is_as_node_by_node_for_trees_one_tree_and_none(executor, cell):
    encoder = encoder_of(executor, cell)
    every = rtf.data.from_nested(NESTED)
    for forest in (every, every[0], every[1], every[:0]):
        x = inputs_of(forest)
        found = encoder(forest, x)
        assert found.shape == (int(forest.num_nodes), UNITS)
        expected = [output_of(s) for s in node_by_node(encoder.cell, forest, x)]
        expected = np.reshape(expected, found.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "through_python",
    [False, pytest.param(True, marks=pytest.mark.falls_back("Python has effects"))],
)
def test_what_cannot_be_batched_begins_at_the_roots(through_python):
    forest = rtf.data.from_nested(NESTED)
    encoder = rtf.layers.TreeEncoder(
        Doubled(through_python), return_nodes=True, name="doubles"
    )
    x = tf.cast(rows_of(forest), tf.float32)
    with observe() as fallbacks:
        found = encoder(forest, x)
    expected = [doubled(forest, node) for node in range(int(forest.num_nodes))]
    assert found.numpy().tolist() == expected
    # It says so of the recursion, and shares no node.
    assert len(fallbacks) == through_python
    assert all("SubGraph 'doubles': " in message for message in fallbacks)
    graph = encoder._traced.get_concrete_function(
        forest.replace(labels=None, features={"inputs": x}), None
    ).graph
    (root,) = [op for op in graph.get_operations() if "procedures" in op.node_def.attr]
    names = [tf.compat.as_str(name) for name in root.get_attr("names")]
    assert names[0] == ("doubles" if through_python else "doubles_nodes")


def test_what_must_be_batched_and_cannot_is_an_error():
    forest = rtf.data.from_nested(NESTED)
    encoder = rtf.layers.TreeEncoder(
        Doubled(through_python=True), return_nodes=True, executor="batched"
    )
    with pytest.raises(
        rtf.SubGraphError, match=r"cannot run in the batched.*EagerPyFunc"
    ):
        encoder(forest, tf.cast(rows_of(forest), tf.float32))


@executors
@pytest.mark.parametrize("go_down", [False, True])
@pytest.mark.parametrize("dag", [False, True])
@pytest.mark.parametrize("binary", [False, True])
def test_a_node_that_no_root_reaches_is_named(executor, go_down, dag, binary):
    forest = rtf.data.from_nested([4, [1, [2, 3]]], binary=binary)
    inner = forest.replace(roots=forest.roots - [0, 1])
    assert forest.roots.numpy().tolist() == [0, 5]
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.ChildSumTreeLSTMCell(UNITS, dtype="float64"),
        executor=executor,
        return_nodes=True,
        go_down=go_down,
        dag=dag,
        dtype="float64",
    )
    x = inputs_of(forest)
    assert encoder(forest, x).shape == (6, UNITS)
    message = r"tree 1, node 5 is unreachable: .*the root of the tree is 4\."
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        encoder(inner, x)


@executors
def test_from_the_roots_alone_no_other_node_is_asked_for(executor):
    forest = rtf.data.from_nested([4, [1, [2, 3]]])
    inner = forest.replace(roots=forest.roots - [0, 1])
    encoder = rtf.layers.TreeEncoder(Doubled(), executor=executor)
    x = tf.cast(rows_of(forest), tf.float32)
    assert encoder(inner, x).numpy().tolist() == [0.0, 10.0]


LAYERS = {
    "tree": (
        lambda: rtf.layers.TreeEncoder(
            rtf.layers.TreeRNNCell(3), keras.layers.Embedding(5, 3)
        ),
        rtf.data.from_nested([[1, 2]]),
    ),
    "sequence": (
        lambda: rtf.layers.SequenceEncoder(keras.layers.GRUCell(3)),
        tf.ragged.constant([[[1.0], [2.0]]], ragged_rank=1),
    ),
}


@pytest.mark.parametrize(("make", "given"), LAYERS.values(), ids=LAYERS)
def test_many_layers_are_not_taken_for_one_that_is_traced_again(
    make, given, monkeypatch
):
    """TensorFlow warns of a function that was traced in five calls of some."""
    warnings = []
    monkeypatch.setattr(tf.get_logger(), "warning", lambda *said: warnings.append(said))
    for _ in range(6):
        make()(given)
    assert not warnings
