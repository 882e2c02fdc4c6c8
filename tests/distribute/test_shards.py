"""Batches of trees, and what a worker's replicas get of them."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.distribute import shards
from recursive_tf.distribute.shards import _of_worker
from recursive_tf.distribute.tables import gather_rows

NESTED = [[1, [2, 3]], 4, [[5, 1], [2, 4]], [3, 4], [[1, 2], 3]]


def trees():
    return rtf.data.from_nested(NESTED, binary=True)


def of_worker(dataset, worker=0, workers=1, replicas=2, balance_by="trees"):
    """Returns the shards that a worker's replicas get, one after the other."""
    context = tf.distribute.InputContext(workers, worker, replicas)
    return [x for step in _of_worker(dataset, context, balance_by) for x in step]


def nested(batches):
    return [batch.to_nested() for batch in batches]


def test_replicas_get_shards_in_turn():
    found = nested(of_worker(rtf.data.batches(trees(), 4)))
    assert found == [NESTED[:2], NESTED[2:4], NESTED[4:], []]


def test_workers_get_those_of_their_replicas():
    batches = rtf.data.batches(trees(), 5)
    parts = [nested(of_worker(batches, worker, 2, 4)) for worker in (0, 1)]
    assert parts == [[NESTED[:2], NESTED[2:3]], [NESTED[3:4], NESTED[4:]]]


def test_balanced_by_nodes():
    [one, other] = of_worker(rtf.data.batches(trees(), 5), balance_by="nodes")
    assert sorted(one.to_nested() + other.to_nested(), key=str) == sorted(
        NESTED, key=str
    )
    assert [int(one.num_nodes), int(other.num_nodes)] == [11, 10]


def test_an_empty_shard_has_all_arrays():
    *_, empty = of_worker(rtf.data.batches(trees(), 4))
    assert empty.num_trees == 0
    assert empty.left.shape == [0]
    empty.validate()


def test_rows_beside_a_forest_go_with_its_trees():
    beside = {"place": tf.range(5), "twice": (tf.range(5) * 2,)}
    dataset = tf.data.Dataset.from_tensors((trees(), beside, tf.range(5.0)))
    for balance_by in ("nodes", "trees"):
        places = []
        for forest, others, weights in of_worker(dataset, balance_by=balance_by):
            chosen = others["place"].numpy()
            assert forest.to_nested() == [NESTED[i] for i in chosen]
            np.testing.assert_array_equal(others["twice"][0], 2 * chosen)
            np.testing.assert_array_equal(weights, chosen)
            places += chosen.tolist()
        assert sorted(places) == list(range(5))


def test_rows_of_nodes_go_with_their_trees():
    of_nodes = {
        "tensor": trees().tokens,
        "ragged": tf.RaggedTensor.from_uniform_row_length(trees().tokens, 1),
    }
    dataset = tf.data.Dataset.from_tensors((trees(), of_nodes, tf.range(5)))
    for balance_by in ("nodes", "trees"):
        for forest, others, places in of_worker(dataset, balance_by=balance_by):
            assert forest.to_nested() == [NESTED[i] for i in places.numpy()]
            np.testing.assert_array_equal(others["tensor"], forest.tokens)
            np.testing.assert_array_equal(others["ragged"].flat_values, forest.tokens)


def test_rows_of_something_else():
    dataset = tf.data.Dataset.from_tensors((trees(), tf.range(7)))
    found = r"a row.*\[7\].*\[5\].*21"
    with pytest.raises(tf.errors.InvalidArgumentError, match=found):
        of_worker(dataset)


def test_the_same_in_each_pass():
    dataset = of_worker(rtf.data.batches(trees(), 3), balance_by="nodes")
    assert nested(dataset) == nested(dataset)


def test_one_replica_gets_the_batches():
    batches = rtf.data.batches(trees(), 2)
    assert nested(shards(batches)) == [NESTED[:2], NESTED[2:4], NESTED[4:]]
    assert len(shards(batches)) == 3


def test_an_unknown_balance():
    with pytest.raises(rtf.data.ForestError, match="'nodes', 'trees'"):
        shards(rtf.data.batches(trees(), 2), balance_by="depth")


@pytest.mark.parametrize(
    "dataset",
    [
        lambda: tf.data.Dataset.range(3),
        lambda: tf.data.Dataset.from_tensor_slices(trees()),
        lambda: tf.data.Dataset.from_tensors((tf.range(5), trees())),
    ],
    ids=["numbers", "single trees", "a forest behind"],
)
def test_no_batches_of_trees(dataset):
    with pytest.raises(rtf.data.ForestError, match="batches of trees"):
        shards(dataset())


def empty_of(forest):
    return forest._type_spec._create_empty_value()


@pytest.mark.parametrize(
    "forest",
    [
        trees,
        lambda: rtf.data.from_nested([[1, [2, 3, 4]], 4], binary=False),
        lambda: rtf.data.from_nested([["a", "b"], "c"]),
        lambda: rtf.data.generate("random", 3),
        lambda: trees().replace(features={"x": tf.zeros([21, 2], tf.float64)}),
    ],
    ids=["left and right", "children", "strings", "labels", "features"],
)
def test_no_trees_are_of_the_same_spec_as_some(forest):
    some = forest()
    none = empty_of(some)
    none.validate()
    assert none.num_trees == 0
    assert none.num_nodes == 0
    spec = some._type_spec
    assert none._type_spec.is_compatible_with(spec) or spec.is_compatible_with(none)
    assert len(rtf.data.concat([none, some])) == len(some)


def test_losses_of_one_replica_are_plain_means():
    total = tf.constant(6.0)
    with tf.GradientTape() as tape:
        tape.watch(total)
        loss = rtf.distribute.mean_over_trees(total, 4)
    assert float(loss) == 1.5
    assert float(tape.gradient(loss, total)) == 0.25
    rows = tf.IndexedSlices(tf.ones([1, 2]), [3])
    assert rtf.distribute.sum_over_replicas([total, rows]) == [total, rows]


def test_rows_of_a_variable():
    table = tf.Variable(tf.reshape(tf.range(12.0), [4, 3]))
    np.testing.assert_array_equal(gather_rows(table, [[2], [0]])[0, 0], [6, 7, 8])
