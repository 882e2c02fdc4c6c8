"""Child indices come from data: a wrong one is an error that names tree and node."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

FAR, BELOW = 10**6, -7
# A tree of two words, and one of three: nodes 0 to 2, and 3 to 7, whose root is 7.
CHILDREN = [[], [], [0, 1], [], [], [3, 4], [], [5, 6]]
ROOTS, SIZES = [2, 7], [3, 5]
WRONG = {
    "far": (
        {7: [5, FAR]},
        f"tree 1, node 7 has the child {FAR}, which is out of range",
    ),
    "negative": ({7: [5, BELOW]}, f"tree 1, node 7 has the child {BELOW}, which"),
    "of another tree": ({7: [5, 2]}, "tree 1, node 7 has the child 2, which is out"),
    "itself": ({7: [5, 7]}, "tree 1, node 7 is below itself: a cycle, 7 -> 7"),
    "a cycle": ({5: [3, 7]}, "tree 1, node 5 is below itself: a cycle, 5 -> 7 -> 5"),
    "twice": ({7: [5, 5]}, "tree 1, node 5 has 2 parents, e.g. 7 and 7"),
    "one": ({7: [5]}, "tree 1, node 7 has 1 child. For this cell"),
}


def forest(changes, *, binary=False, roots=ROOTS, sizes=SIZES):
    children = [changes.get(node, own) for node, own in enumerate(CHILDREN)]
    choices = {"tokens": [1] * len(children), "roots": roots, "sizes": sizes}
    if not binary:
        return rtf.data.Forest(children=children, **choices)
    pairs = np.array([[*own, -1, -1][:2] for own in children], np.int32)
    return rtf.data.Forest(left=pairs[:, 0], right=pairs[:, 1], **choices)


def encoder(executor="auto", cell=None, **choices):
    words = keras.layers.Embedding(10, 3)
    cell = cell or rtf.layers.TreeLSTMCell(4)
    return rtf.layers.TreeEncoder(
        cell, words, executor=executor, name="encoder", **choices
    )


def complaint_of(call):
    message = message_of(call, tf.errors.InvalidArgumentError)
    return message[message.index("SubGraph 'encoder': ") :]


@pytest.fixture(scope="module")
def encode(executor):
    """Returns an encoder that has run forests with both kinds of links."""
    encode = encoder(executor or "auto")
    for binary in (True, False):
        assert encode(forest({}, binary=binary)).shape == [2, 4]
    return encode


@pytest.mark.every_executor
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_child_is_named(encode, binary, name):
    changes, complaint = WRONG[name]
    found = complaint_of(lambda: encode(forest(changes, binary=binary)))
    assert found.startswith(f"SubGraph 'encoder': {complaint}")
    assert encode(forest({}, binary=binary)).shape == [2, 4]


@pytest.mark.parametrize("cell", [rtf.layers.ChildSumTreeLSTMCell, None])
def test_a_cycle_is_found_whatever_a_cell_takes(cell):
    make = cell or (lambda units: rtf.layers.NaryTreeLSTMCell(units, 3))
    changes, complaint = WRONG["a cycle"]
    assert complaint in complaint_of(
        lambda: encoder(cell=make(4), dag=True)(forest(changes))
    )


@pytest.mark.parametrize(
    ("roots", "sizes", "complaint"),
    [
        ([2, 8], SIZES, "tree 1: its root is node 8, which is out of range"),
        ([2, -1], SIZES, "tree 1: its root is node -1"),
        ([2, 7], [3, 6], "The sizes of the trees add up to 9 nodes, but there are 8"),
        ([2, 7], [8, 0], "tree 1 is empty"),
        ([2, 7], [9, -1], "tree 1 is empty: its size is -1"),
    ],
)
def test_a_wrong_root_or_size_is_named(encode, roots, sizes, complaint):
    wrong = forest({}, roots=roots, sizes=sizes)
    assert complaint in complaint_of(lambda: encode(wrong))


def test_nodes_share_children_where_they_may(encode):
    shared = forest({5: [3, 4], 7: [5, 4]})
    assert "node 4 has 2 parents" in complaint_of(lambda: encode(shared))
    assert encoder(dag=True)(shared).shape == [2, 4]


def test_a_tree_in_any_order_of_its_nodes_is_none_with_a_cycle(encode):
    rng = np.random.default_rng(0)
    for _ in range(20):
        places = rng.permutation(5) + 3
        own = {int(places[i - 3]): [int(places[c - 3]) for c in CHILDREN[i]]
               for i in range(3, 8)}  # fmt: skip
        shuffled = forest(own, roots=[2, int(places[7 - 3])])
        assert encode(shuffled.validate()).shape == [2, 4]


def test_a_long_chain_and_a_long_cycle_take_no_stack():
    depth = 200_000
    below = np.arange(depth, dtype=np.int32)  # Of all nodes but the leaf.
    # Two nodes change places, so that neither order is that of all nodes.
    below[[4, depth // 2]] = below[[depth // 2, 4]]
    lengths = np.ones(depth + 1, np.int64)
    lengths[0] = 0
    wrong = rtf.data.Forest(
        tokens=np.ones(depth + 1, np.int32),
        children=tf.RaggedTensor.from_row_lengths(below, lengths),
        roots=[depth],
        sizes=[depth + 1],
    )
    encode = encoder("batched", rtf.layers.ChildSumTreeLSTMCell(2))
    assert " -> ...." in complaint_of(lambda: encode(wrong))


def test_training_stops_at_a_wrong_child():
    model = keras.Sequential([rtf.layers.ForestInput(), encoder()])
    model.compile("sgd", "mse")
    changes, complaint = WRONG["a cycle"]
    data = tf.data.Dataset.from_tensors((forest(changes), tf.zeros([2, 4])))
    assert complaint in complaint_of(lambda: model.fit(data, verbose=0, shuffle=False))


def test_an_exported_model_checks_children(tmp_path):
    model = keras.Sequential([rtf.layers.ForestInput(), encoder()])
    rtf.layers.export(model, tmp_path / "model", like=forest({}))
    serve = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    changes, complaint = WRONG["itself"]

    def call(trees):
        return serve(
            tokens=trees.tokens,
            roots=trees.roots,
            sizes=trees.sizes,
            children_values=trees.children.values,
            children_row_splits=trees.children.row_splits,
        )

    call(forest({}))
    assert complaint in complaint_of(lambda: call(forest(changes)))
