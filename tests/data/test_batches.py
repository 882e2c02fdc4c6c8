"""Batches have all trees, as large and as alike as asked, in an order of the seed."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from recursive_tf.data import ForestError, batches, concat, generate
from recursive_tf.data.measures import depths
from tests.data.examples import assert_same, forest

TREES = generate("random", 50, words=range(1, 20), seed=1)
TREES = TREES.replace(features={"number": np.repeat(np.arange(50), TREES.sizes)})


def numbers(batch):
    """Returns which trees are in a batch."""
    return tf.gather(batch.features["number"], batch.roots).numpy().tolist()


def test_batches_are_of_one_size_but_the_last():
    found = list(batches(TREES, 20))
    assert [len(batch) for batch in found] == [20, 20, 10]
    assert_same(concat(found), TREES)


def test_the_number_of_batches_is_known():
    assert len(batches(TREES, 20)) == 3
    assert len(batches(TREES, 20, drop_remainder=True)) == 2
    assert [len(batch) for batch in batches(TREES, 20, drop_remainder=True)] == [20, 20]


def test_batches_have_at_most_so_many_nodes():
    found = list(batches(TREES, max_nodes=100))
    nodes = [int(batch.num_nodes) for batch in found]
    assert max(nodes) <= 100
    # None could have taken the first tree of the next.
    following = [int(batch.sizes[0]) for batch in found[1:]]
    assert all(a + b > 100 for a, b in zip(nodes, following, strict=False))
    assert_same(concat(found), TREES)


def test_nodes_and_trees_may_both_be_limited():
    found = list(batches(TREES, 5, max_nodes=100))
    assert max(len(batch) for batch in found) == 5
    assert max(int(batch.num_nodes) for batch in found) <= 100


@pytest.mark.parametrize(
    ("bucket_by", "measure"),
    [
        ("nodes", lambda trees: trees.sizes.numpy()),
        ("depth", depths),
        (np.arange(50) % 7, lambda trees: np.array(numbers(trees)) % 7),
    ],
)
def test_trees_of_a_batch_are_alike(bucket_by, measure):
    found = [measure(b) for b in batches(TREES, 10, bucket_by=bucket_by)]
    assert np.concatenate(found).tolist() == sorted(measure(TREES))
    shuffled = batches(TREES, 10, bucket_by=bucket_by, shuffle=True, seed=0)
    in_random_order = [measure(batch).tolist() for batch in shuffled]
    assert in_random_order != [keys.tolist() for keys in found]
    assert sorted(in_random_order) == sorted(keys.tolist() for keys in found)


def test_each_pass_is_shuffled_anew_by_the_seed():
    def passes(seed):
        dataset = batches(TREES, 10, shuffle=True, seed=seed)
        return [[n for batch in dataset for n in numbers(batch)] for _ in range(3)]

    first = passes(1)
    assert len({tuple(order) for order in first}) == 3
    assert all(sorted(order) == list(range(50)) for order in first)
    assert first == passes(1)
    assert first != passes(2)


@settings(deadline=None, max_examples=15)
@given(
    size=st.none() | st.integers(1, 60),
    nodes=st.none() | st.integers(40, 200),
    bucket_by=st.sampled_from([None, "nodes", "depth"]),
    shuffle=st.booleans(),
)
def test_every_tree_is_in_one_batch(size, nodes, bucket_by, shuffle):
    if size is None and nodes is None:
        size = 7
    dataset = batches(
        TREES, size, max_nodes=nodes, bucket_by=bucket_by, shuffle=shuffle
    )
    found = [n for batch in dataset for n in numbers(batch)]
    assert sorted(found) == list(range(50))


def test_lists_of_children_are_batched_too():
    trees = forest(binary=False)
    assert_same(concat(list(batches(trees, 2))), trees)


def test_a_forest_without_trees_has_no_batches():
    assert list(batches(TREES[:0], 5)) == []


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [
        ({}, "batch_size or max_nodes"),
        ({"batch_size": 0}, "at least one tree and one node"),
        ({"max_nodes": 36}, r"tree \d+ has 37 nodes, and a batch at most 36"),
        ({"max_nodes": 99, "drop_remainder": True}, "drop_remainder needs batch_size"),
        (
            {"batch_size": 5, "bucket_by": "size"},
            r"by 'size'. Expected one of \['nodes'",
        ),
        ({"batch_size": 5, "skip": -1}, "skip is a number of batches"),
        ({"batch_size": 5, "bucket_by": [1, 2]}, r"for each of 50 trees.*shape \[2\]"),
    ],
)
def test_what_makes_no_batches_is_refused(choices, complaint):
    with pytest.raises(ForestError, match=complaint):
        batches(TREES, **choices)
    with pytest.raises(ForestError, match="Got one tree"):
        batches(TREES[0], 5)


@pytest.mark.parametrize("choices", [{"batch_size": 20}, {"max_nodes": 100}])
def test_batches_may_be_left_out_at_the_beginning_of_each_pass(choices):
    choices |= {"shuffle": True, "seed": 4}
    whole, rest = batches(TREES, **choices), batches(TREES, **choices, skip=2)
    for _ in range(2):
        expected = [numbers(batch) for batch in whole][2:]
        assert [numbers(batch) for batch in rest] == expected
    assert list(batches(TREES, **choices, skip=90)) == []


def test_the_number_of_batches_that_are_left_is_known():
    assert len(batches(TREES, 20, skip=2)) == 1
    assert len(batches(TREES, 20, skip=4)) == 0


def test_a_variable_says_which_pass_is_next():
    number = tf.Variable([3, 0], dtype=tf.int64)
    dataset = batches(TREES, 10, shuffle=True, seed=number)

    def one_pass():
        return [batch.to_nested() for batch in dataset]

    first, again = one_pass(), one_pass()
    number.assign([3, 1])
    other = one_pass()
    number.assign([3, 0])
    assert first == again == one_pass()
    assert first != other
