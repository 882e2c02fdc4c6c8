"""Forests pass through tf.data, one tree or one batch at a time."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from recursive_tf.data import ForestError, concat
from tests.data.examples import assert_same, forest


@pytest.fixture(params=[True, False], ids=["left and right", "children"])
def trees(request):
    return forest(binary=request.param)


def slices(trees):
    return tf.data.Dataset.from_tensor_slices(trees)


def test_slices_are_trees(trees):
    dataset = slices(trees)
    assert dataset.element_spec == tf.type_spec_from_value(trees[0])
    for actual, expected in zip(dataset, trees, strict=True):
        assert_same(actual, expected)


def test_a_batch_of_trees_is_a_forest(trees):
    batches = list(slices(trees).batch(2))
    for batch, start in zip(batches, (0, 2, 4), strict=True):
        assert_same(batch, trees[start : start + 2])


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_unbatch_undoes_batch(trees, size):
    for actual, expected in zip(
        slices(trees).batch(size).unbatch(), trees, strict=True
    ):
        assert_same(actual, expected)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.integers(1, 4))
def test_what_is_batched_is_what_concat_gives(chosen, size):
    trees = forest()[chosen]
    batches = list(slices(trees).batch(size))
    assert_same(concat(batches), trees)


@pytest.mark.parametrize(
    "change",
    [
        lambda dataset: dataset.rebatch(2),
        lambda dataset: dataset.unbatch().batch(3).rebatch(2),
        lambda dataset: dataset.unbatch().ragged_batch(2),
        lambda dataset: dataset.unbatch().batch(2, num_parallel_calls=2),
        lambda dataset: dataset.map(lambda trees: trees[:]).rebatch(2).prefetch(1),
    ],
    ids=["rebatch", "twice", "ragged_batch", "parallel", "map and prefetch"],
)
def test_batches_of_another_size_have_the_same_trees(trees, change):
    changed = list(change(tf.data.Dataset.from_tensors(trees)))
    assert [batch.roots.shape[0] for batch in changed] == [2, 2, 1]
    assert_same(concat(changed), trees)


def test_the_rest_is_dropped_where_asked(trees):
    dataset = slices(trees).batch(2, drop_remainder=True)
    assert len(list(dataset)) == 2
    assert dataset.element_spec == tf.type_spec_from_value(trees)


def test_shuffled_trees_are_the_same_trees(trees):
    shuffled = slices(trees).shuffle(5, seed=1).batch(5)
    nested = next(iter(shuffled)).to_nested()
    assert nested != trees.to_nested()
    assert sorted(map(str, nested)) == sorted(map(str, trees.to_nested()))


def test_a_cache_keeps_trees_in_memory_and_in_a_file(trees, tmp_path):
    for cached in (slices(trees).cache(), slices(trees).cache(str(tmp_path / "cache"))):
        for _ in range(2):
            assert_same(next(iter(cached.batch(5))), trees)


def test_a_saved_dataset_has_the_same_trees(trees, tmp_path):
    slices(trees).save(str(tmp_path / "saved"))
    loaded = tf.data.Dataset.load(str(tmp_path / "saved"))
    assert_same(next(iter(loaded.batch(5))), trees)


def test_a_generator_may_yield_trees(trees):
    dataset = tf.data.Dataset.from_generator(
        lambda: iter(trees), output_signature=tf.type_spec_from_value(trees[0])
    )
    assert_same(next(iter(dataset.batch(5))), trees)


def test_trees_stand_beside_other_elements(trees):
    dataset = tf.data.Dataset.zip({"x": slices(trees), "y": tf.data.Dataset.range(5)})
    batch = next(iter(dataset.batch(5)))
    assert_same(batch["x"], trees)
    np.testing.assert_array_equal(batch["y"], range(5))


def test_trees_are_filtered_and_grouped_by_what_they_are(trees):
    large = slices(trees).filter(lambda tree: tree.num_nodes > 4)
    assert_same(next(iter(large.batch(5))), trees[[0, 2, 4]])
    grouped = slices(trees).group_by_window(
        lambda tree: tf.cast(tree.num_nodes > 4, tf.int64),
        lambda _, dataset: dataset.batch(5),
        window_size=5,
    )
    sizes = [batch.sizes.numpy().tolist() for batch in grouped]
    assert sorted(sizes) == [[1, 3], [5, 9, 9]]


def test_a_map_may_choose_trees_by_number(trees):
    dataset = tf.data.Dataset.range(5).batch(2).map(lambda i: trees[i])
    assert_same(concat(list(dataset)), trees)


def test_map_fn_takes_trees(trees):
    sizes = tf.map_fn(lambda tree: tree.num_nodes, trees, fn_output_signature=tf.int32)
    np.testing.assert_array_equal(sizes, trees.sizes)


def test_a_batch_without_trees_is_a_batch(trees):
    dataset = tf.data.Dataset.from_tensors(trees[:0]).concatenate(
        tf.data.Dataset.from_tensors(trees)
    )
    assert [len(batch) for batch in dataset] == [0, 5]
    assert len(list(dataset.unbatch())) == 5


def test_a_batch_of_batches_is_refused():
    with pytest.raises(ForestError, match="cannot be batched once more"):
        slices(forest()).batch(2).batch(2)


def test_a_tree_is_no_batch_to_take_apart():
    with pytest.raises(ValueError, match="Cannot unbatch"):
        slices(forest()).unbatch()
