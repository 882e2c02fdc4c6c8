"""A spec is known without a forest, and is that of the forest."""

import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.data import Forest, forest_spec
from tests.data.examples import forest, integers

FEATURES = {"vector": tf.TensorSpec([None, 2], tf.float32), "name": tf.string}


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("batch", [True, False])
def test_a_spec_is_that_of_a_forest_with_the_same_arrays(binary, batch):
    spec = forest_spec(
        tf.string, labels=tf.int32, features=FEATURES, binary=binary, batch=batch
    )
    trees = forest(binary) if batch else forest(binary)[0]
    assert spec == tf.type_spec_from_value(trees)
    assert spec.shape.rank == trees.shape.rank


def test_a_number_of_nodes_in_a_spec_is_left_out():
    labels = tf.TensorSpec([7, 3], tf.float32)
    assert forest_spec(labels=labels) == forest_spec(
        labels=tf.TensorSpec([None, 3], tf.float32)
    )


def test_forests_of_other_arrays_have_other_specs():
    specs = [
        forest_spec(),
        forest_spec(tf.string),
        forest_spec(labels=tf.int32),
        forest_spec(binary=False),
        forest_spec(batch=False),
        forest_spec(features=FEATURES),
    ]
    assert len(set(specs)) == len(specs)


def test_a_spec_is_an_input_signature():
    @tf.function(input_signature=[forest_spec(labels=tf.int32, features=FEATURES)])
    def count(trees):
        return trees.num_nodes

    assert int(count(integers())) == 27
    with pytest.raises(TypeError, match=r"Binding inputs|signature"):
        count(integers(binary=False))


def test_keras_takes_a_forest_for_a_tensor_with_the_shape_of_its_roots():
    trees = integers()
    assert tf.is_tensor(trees)
    np.testing.assert_array_equal(tf.shape(trees), [5])
    assert tf.shape(trees, out_type=tf.int64).dtype == tf.int64
    assert (trees.shape, trees.dtype) == ([5], tf.int32)
    assert tf.shape(trees[0]).shape == [0]


def test_features_of_two_lengths_do_not_disturb_each_other():
    for length in (2, 3, 2):
        tree = Forest(
            tokens=[1],
            left=[-1],
            right=[-1],
            roots=0,
            features={"vector": np.zeros([1, length])},
        )
        batch = next(iter(tf.data.Dataset.from_tensors(tree).batch(1)))
        assert batch[[0, 0]].features["vector"].shape == [2, length]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("batch", [True, False])
def test_a_forest_is_taken_apart_as_tensorflow_does(binary, batch):
    trees = forest(binary)
    rows = tf.zeros([trees.num_nodes, 2])
    trees = trees.replace(features={"vector": rows, "also": rows[:, 0]})
    trees = trees if batch else trees[0]
    spec = tf.type_spec_from_value(trees)
    tensors = spec.to_tensors(trees)
    expected = tf.TypeSpec.to_tensors(spec, trees)
    assert [id(each) for each in tensors] == [id(each) for each in expected]


def test_a_function_refuses_rows_of_another_width_or_dtype():
    @tf.function(input_signature=[forest_spec(labels=tf.int32, features=FEATURES)])
    def count(trees):
        return trees.num_nodes

    trees = integers()
    rows = trees.features["vector"]
    for other in (rows[:, :1], tf.cast(rows, tf.float64), rows[:, 0]):
        features = {**trees.features, "vector": other}
        with pytest.raises(TypeError, match="Can not cast"):
            count(trees.replace(features=features))
