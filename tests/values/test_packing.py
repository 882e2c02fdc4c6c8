"""What was packed comes back as it was, and nothing else is taken for it."""

import hypothesis
import hypothesis.extra.numpy as arrays_of
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies

import recursive_tf as rtf
from recursive_tf import pack, unpack
from recursive_tf.data import Forest, forest_spec
from tests.data.examples import assert_same, integers

BYTES = tf.TensorSpec([None], tf.uint8)


@pytest.mark.parametrize("binary", [True, False])
def test_a_forest_comes_back(binary):
    """A batch, one tree, and a batch without labels and features."""
    trees = integers(binary)
    trees = trees.replace(features={"vector": trees.features["vector"]})
    for each in (trees, trees[2], trees.replace(labels=None, features={})):
        assert_same(unpack(pack(each), tf.type_spec_from_value(each)), each)


@pytest.mark.traces_only
def test_a_forest_goes_through_a_function_and_a_dataset():
    trees = integers().replace(features={})
    spec = tf.type_spec_from_value(trees)

    @tf.function(input_signature=[BYTES])
    def count(packed):
        return unpack(packed, spec).num_nodes

    packed = tf.data.Dataset.from_tensors(trees).map(pack)
    assert packed.element_spec == BYTES
    assert [int(count(one)) for one in packed] == [27]
    (again,) = packed.map(lambda one: unpack(one, spec))
    assert_same(again, trees)


def test_a_spec_is_enough_to_unpack():
    trees = Forest(
        tokens=[3, 4, 0], left=[-1, -1, 0], right=[-1, -1, 1], roots=[2], sizes=[3]
    )
    packed = pack(trees)
    assert_same(unpack(packed, forest_spec()), trees)


DTYPES = (
    *(tf.bool, tf.int8, tf.uint8, tf.int16, tf.int32, tf.int64, tf.uint64),
    *(tf.bfloat16, tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128),
)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_any_dtype_and_rank(dtype):
    value = {
        "scalar": tf.cast(1, dtype),
        "vector": tf.cast([1, 0, 1], dtype),
        "nothing": tf.zeros([0, 3], dtype),
        "rank 4": tf.cast(tf.reshape(tf.range(24) % 2, [2, 3, 2, 2]), dtype),
    }
    spec = tf.nest.map_structure(tf.type_spec_from_value, value)
    found = unpack(pack(value), spec)
    assert found.keys() == value.keys()
    for name, tensor in value.items():
        assert found[name].dtype == dtype
        np.testing.assert_array_equal(found[name].numpy(), tensor.numpy())


ARRAYS = strategies.lists(
    strategies.sampled_from(["bool", "int8", "int32", "int64", "float32", "float64"])
    .map(np.dtype)
    .flatmap(
        lambda dtype: arrays_of.arrays(
            dtype, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0)
        )
    ),
    min_size=1,
    max_size=5,
)


@hypothesis.given(arrays=ARRAYS, offset=strategies.integers(0, 70))
def test_arrays_are_packed_as_tensors_are_wherever_they_stand(arrays, offset):
    packed = pack(arrays)
    np.testing.assert_array_equal(packed, pack([tf.constant(a) for a in arrays]))
    elsewhere = tf.concat([tf.zeros([offset], tf.uint8), packed], 0)[offset:]
    specs = [tf.TensorSpec([None] * a.ndim, a.dtype) for a in arrays]
    for found, array in zip(unpack(elsewhere, specs), arrays, strict=True):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


def test_packed_values_may_stand_one_behind_the_other():
    arrays = [np.arange(n, dtype=np.int8) for n in (0, 1, 63, 64, 65)]
    sizes = [len(pack([array])) for array in arrays]
    assert all(size % 64 == 0 for size in sizes)
    joined = tf.concat([pack([array]) for array in arrays], 0)
    for array, begin in zip(arrays, np.cumsum([0, *sizes]), strict=False):
        (found,) = unpack(joined[begin:], [tf.TensorSpec([None], tf.int8)])
        np.testing.assert_array_equal(found, array)


def test_arrays_of_any_layout_are_packed_in_order():
    square = np.arange(9.0).reshape(3, 3)
    for array in (
        square.T,
        square[:, 1],
        square.astype(">f8"),
        np.asfortranarray(square),
    ):
        (found,) = unpack(pack([array]), [tf.TensorSpec(array.shape, tf.float64)])
        np.testing.assert_array_equal(found, array)


@hypothesis.given(data=strategies.data())
def test_damage_is_an_error_or_gives_what_the_spec_says(data):
    spec = [tf.TensorSpec([None, 2], tf.int32, name="links"), tf.TensorSpec([None])]
    packed = np.array(pack([np.ones([3, 2], np.int32), np.ones(5, np.float32)]))
    at = data.draw(strategies.integers(0, len(packed) - 1))
    packed[at] = data.draw(strategies.integers(0, 255))
    packed = packed[: data.draw(strategies.integers(0, len(packed)))]
    found, why_not = try_to_unpack(packed, spec)
    if found is None:
        assert "This is no packed value of the spec" in why_not
        return
    for tensor, part in zip(found, spec, strict=True):
        assert part.is_compatible_with(tensor)


def try_to_unpack(packed, spec):
    """Returns what was packed, or None and the error."""
    try:
        return unpack(packed, spec), ""
    except tf.errors.InvalidArgumentError as error:
        return None, str(error)


def test_errors_say_which_array_is_another():
    packed = pack({"words": np.zeros([2, 3], np.float32)})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"array 0 is float\[2,3\], not int32"
    ):
        unpack(packed, {"words": tf.TensorSpec([None, 3], tf.int32)})
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"words is float\[2,3\], not float\[\?,4\]",
    ):
        unpack(packed, {"words": tf.TensorSpec([None, 4], name="words")})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="another number of arrays than 5"
    ):
        unpack(packed, forest_spec())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not \[bytes\]"):
        unpack(packed[tf.newaxis], forest_spec())


def test_strings_are_refused():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Encode strings as numbers"
    ):
        pack(rtf.data.from_nested([["a", "b"]]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Encode strings as numbers"
    ):
        pack(np.array(["a"]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Encode strings as numbers"
    ):
        unpack(pack([1]), [tf.TensorSpec([None], tf.string)])


def test_nothing_is_refused():
    for call in (lambda: pack([]), lambda: unpack(pack([1]), {})):
        with pytest.raises(ValueError, match="no tensor in the structure"):
            call()


@pytest.mark.every_executor
def test_trees_of_a_packed_batch_learn_as_others_do():
    trees = integers().replace(features={})
    spec = tf.type_spec_from_value(trees)
    table = tf.Variable(tf.random.stateless_uniform([17, 4], [1, 2]))

    def gradient(trees):
        with rtf.SubGraph("encode", output_signature=tf.TensorSpec([4])) as encode:
            node = encode.input(tf.int32)

            def below():
                left, right = trees.left[node], trees.right[node]
                return tf.tanh(encode(left) + 2 * encode(right))

            leaf = lambda: tf.gather(table, trees.tokens[node])  # noqa: E731
            encode.output(tf.cond(trees.left[node] < 0, leaf, below))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(encode.map(trees.roots))
        return tf.convert_to_tensor(tape.gradient(loss, table))

    of_packed = tf.function(lambda packed: gradient(unpack(packed, spec)))
    np.testing.assert_array_equal(of_packed(pack(trees)), tf.function(gradient)(trees))
