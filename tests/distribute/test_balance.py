"""How trees are shared: all of them once, as many each, and as even as can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recursive_tf.distribute import balance

sizes_of_trees = st.lists(st.integers(1, 200), max_size=40).map(np.array)
numbers = st.integers(1, 9)
each = pytest.mark.parametrize("share", [balance.by_nodes, balance.in_order])


@each
@given(sizes=sizes_of_trees, number=numbers)
def test_every_tree_is_in_one_shard_and_shards_are_in_order(share, sizes, number):
    shards = share(sizes, number)
    assert len(shards) == number
    assert sorted(np.concatenate(shards)) == list(range(len(sizes)))
    assert all(np.all(np.diff(shard) > 0) for shard in shards)


@each
@given(sizes=sizes_of_trees, number=numbers)
def test_shards_have_as_many_trees_but_for_one(share, sizes, number):
    expected = [len(part) for part in np.array_split(sizes, number)]
    assert [len(shard) for shard in share(sizes, number)] == expected


@given(sizes=sizes_of_trees.filter(len), number=numbers)
def test_no_two_shards_differ_by_more_than_the_largest_tree(sizes, number):
    """Of shards with equally many trees: the heavier got its trees in turn."""
    sizes = sizes[: len(sizes) // number * number]
    loads = [sizes[shard].sum() for shard in balance.by_nodes(sizes, number)]
    if len(sizes):
        assert max(loads) - min(loads) <= sizes.max()


def test_by_hand():
    shards = balance.by_nodes(np.array([9, 1, 1, 7, 3, 3]), 2)
    # 9 and 7; 3 to 7, and 3 to 9, which is less than 10; 1 to 10, and 1 to 12.
    assert [shard.tolist() for shard in shards] == [[0, 2, 5], [1, 3, 4]]


def test_a_tree_a_hundred_times_larger_gets_the_smallest_beside_it():
    sizes = np.array([3, 5, 500, 3, 5, 5])
    heavy, light = balance.by_nodes(sizes, 2)
    assert heavy.tolist() == [0, 2, 3]
    assert light.tolist() == [1, 4, 5]


def test_equal_sizes_are_shared_alike_each_time():
    first, second = (balance.by_nodes(np.full(7, 4), 3) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.tolist() == other.tolist()
