"""What a decorated function takes and returns."""

import collections
import enum

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.values import Pair, as_numpy

pytestmark = pytest.mark.every_executor


class Kind(enum.Enum):
    SUM = 1
    PRODUCT = 2


# --- Structures


def test_structures_go_in_and_come_out():
    @rtf.subgraph
    def f(state, n):
        if n < 1:
            return state
        pair = Pair(state["pair"].right, state["pair"].left + n)
        return f({"pair": pair, "all": [*state["all"][1:], (n,)]}, n - 1)

    state = {"pair": Pair(tf.constant(1), tf.constant(2)), "all": [(7,), (8,)]}
    found = as_numpy(f(state, 3))
    assert found == {"pair": Pair(4, 5), "all": [(2,), (1,)]}
    assert isinstance(found["pair"], Pair)


def test_structures_of_other_types_go_in_and_come_out():
    @rtf.subgraph
    def f(state, n):
        if n < 1:
            return state
        return f(state, n - 1)

    state = collections.OrderedDict(b=tf.constant(1), a=(tf.constant(2), ()))
    assert as_numpy(f(state, 2)) == state


@pytest.mark.falls_back("an unknown shape")
def test_ragged_and_sparse_tensors_go_in_and_come_out():
    @rtf.subgraph
    def f(rows, sparse, n):
        if n < 1:
            return rows, sparse
        return f(rows * 2, sparse, n - 1)

    rows, sparse = f(tf.ragged.constant([[1], [2, 3]]), tf.sparse.eye(2), 2)
    assert rows.to_list() == [[4], [8, 12]]
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[1, 0], [0, 1]]


def test_a_function_without_arguments_is_called():
    @rtf.subgraph
    def seven():
        return 7

    assert int(seven()) == 7


def test_what_is_returned_may_be_what_was_passed():
    @rtf.subgraph
    def same(x):
        return x

    assert same([1.0, 2.0]).numpy().tolist() == [1, 2]


# --- Numbers and arrays


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, tf.int32),
        (1.5, tf.float32),
        (1 + 2j, tf.complex128),
        (np.float64(1.5), tf.float64),
        (np.int64(3), tf.int64),
        (np.bool_(True), tf.bool),
        (np.ones([2, 2], np.float32), tf.float32),
        ([1.0, 2.0], tf.float32),
        ([[1, 2], [3, 4]], tf.int32),
    ],
    ids=repr,
)
def test_numbers_arrays_and_lists_of_numbers_are_tensors(value, dtype):
    @rtf.subgraph
    def twice(x):
        assert isinstance(x, tf.Tensor)
        return x, x

    found = twice(value)[1]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, value)


def test_lists_of_numbers_within_structures_are_tensors():
    @rtf.subgraph
    def f(a):
        return tf.reduce_sum(a["x"]) + tf.reduce_sum(a["y"].left) + a["z"][1]

    argument = {"x": [1, 2], "y": Pair([3, 4], 5), "z": (6, 7)}
    assert int(f(argument)) == 1 + 2 + 3 + 4 + 7


def test_a_call_of_itself_may_pass_numbers():
    @rtf.subgraph
    def f(n, step):
        if n < 1:
            return 0
        return f(n - step, 2) + 1

    assert int(f(7, 1)) == 4


# --- Python values


@pytest.mark.parametrize(
    "values",
    [("sum", "product"), (Kind.SUM, Kind.PRODUCT), (True, False), (None, tf.add)],
    ids=["texts", "enums", "flags", "objects"],
)
def test_other_python_values_are_part_of_what_is_traced(values):
    @rtf.subgraph
    def f(n, how):
        assert how in values
        if n < 1:
            return 1
        if how is values[0]:
            return f(n - 1, how) + n
        return f(n - 1, how) * n

    assert [int(f(4, how)) for how in values] == [11, 24]
    assert len(f.subgraphs) == 2


def test_a_call_of_itself_with_another_python_value_makes_another_subgraph():
    @rtf.subgraph
    def f(n, turn="left"):
        if n < 1:
            return 0
        if turn == "left":
            return 10 * f(n - 1, "right") + 1
        return 10 * f(n - 1) + 2

    assert int(f(4)) == 2121
    assert len(f.subgraphs) == 2


def test_python_values_that_change_may_end_a_recursion():
    @rtf.subgraph
    def f(x, levels):
        if not levels:
            return x
        return f(x, levels[1:]) + len(levels)

    assert int(f(5, "abc")) == 5 + 3 + 2 + 1


def test_an_argument_may_be_a_function():
    @rtf.subgraph
    def fold(function, n):
        if n < 1:
            return 1
        return function(fold(function, n - 1), n)

    assert [int(fold(tf.add, 4)), int(fold(tf.multiply, 4))] == [11, 24]


def test_an_argument_may_be_a_lambda():
    @rtf.subgraph
    def fold(function, n):
        if n < 1:
            return 1
        return function(fold(function, n - 1), n)

    assert [int(fold(lambda a, b: a * b, 4)), int(fold(lambda a, b: a - b, 4))] == [
        24,
        -9,
    ]


def test_an_argument_may_be_a_layer():
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")

    @rtf.subgraph
    def f(dense, n):
        if n < 1:
            return tf.ones([1, 2])
        return dense(f(dense, n - 1))

    assert f(layer, 3).numpy().tolist() == [[8, 8]]


def test_an_argument_may_be_a_variable():
    weight = tf.Variable(3.0)

    @rtf.subgraph
    def power(w, n):
        if n < 1:
            return 1.0
        return power(w, n - 1) * w

    assert float(power(weight, 3)) == 27
    weight.assign(2.0)
    assert float(power(weight, 3)) == 8
    assert len(power.subgraphs) == 1


def test_an_argument_may_be_another_decorated_function():
    @rtf.subgraph
    def double(x):
        return 2 * x

    @rtf.subgraph
    def apply(function, n):
        if n < 1:
            return 1
        return function(apply(function, n - 1))

    assert int(apply(double, 5)) == 32


# --- Names and defaults


def test_arguments_are_passed_by_name():
    @rtf.subgraph
    def f(n, base, *, add):
        if n < 1:
            return base
        return f(base=base, add=add, n=n - 1) + add

    assert int(f(add=2, base=3, n=4)) == 11
    assert int(f(4, add=2, base=3)) == 11
    assert len(f.subgraphs) == 1


def test_a_default_is_what_a_call_that_says_it_passes():
    @rtf.subgraph
    def f(n, base=10):
        if n < 1:
            return base
        return f(n - 1, base) + 1

    assert [int(f(2)), int(f(2, 10)), int(f(2, base=20))] == [12, 12, 22]
    assert len(f.subgraphs) == 1


# --- Annotations


@pytest.mark.falls_back("an unknown shape")
def test_annotations_say_what_is_taken():
    @rtf.subgraph
    def f(n: tf.int64, x: tf.TensorSpec([None], tf.float32)):
        if n < 1:
            return x
        return f(n - 1, tf.concat([x, [0]], 0))

    assert repr(f.subgraph_for(2, [1])) == (
        "<SubGraph 'f' (int64[], float32[?]) -> float32[?]>"
    )
    assert f(2, [1]).numpy().tolist() == [1, 0, 0]
    assert f(1, tf.constant([1.0, 2.0])).numpy().tolist() == [1, 2, 0]
    assert len(f.subgraphs) == 1


def test_annotations_are_structures():
    scalars = {"a": tf.int32, "b": (tf.float32,)}

    @rtf.subgraph
    def f(state: scalars) -> scalars:
        if state["a"] < 1:
            return state
        return f({"a": state["a"] - 1, "b": (2 * state["b"][0],)})

    assert as_numpy(f({"a": 3, "b": (1,)})) == {"a": 0, "b": (8.0,)}


def test_annotations_hold_for_each_of_a_list_of_arguments():
    @rtf.subgraph
    def f(*terms: tf.float32, **named: tf.int64):
        return tf.add_n(terms), named["k"]

    assert as_numpy(f(1, 2, 3, k=4)) == (6.0, 4)


@pytest.mark.traces_only
def test_annotations_may_be_texts():
    spec = tf.TensorSpec([2])

    @rtf.subgraph
    def f(x: "spec", why: "an explanation") -> "tf.TensorSpec([2])":  # noqa: F722
        return x + tf.zeros(spec.shape)

    assert repr(f.subgraph_for([1, 2], None)) == (
        "<SubGraph 'f' (float32[2]) -> float32[2]>"
    )


def test_annotations_for_others_are_left_alone():
    @rtf.subgraph
    def f(n: int, x: tf.Tensor, name: str | None = None) -> tf.Tensor:
        assert name == "x"
        return x * n

    assert int(f(2, 3, "x")) == 6


def test_an_annotated_flag_is_a_tensor():
    @rtf.subgraph
    def f(flag: tf.bool):
        return tf.cast(flag, tf.int32)

    assert [int(f(True)), int(f(False)), len(f.subgraphs)] == [1, 0, 1]


def test_what_is_returned_is_what_the_annotation_says():
    @rtf.subgraph
    def f(n) -> tf.TensorSpec([2]):
        if n < 1:
            return tf.zeros([2])
        return tf.reshape(f(n - 1), [n - n + 2]) + 1

    assert repr(f.subgraph_for(2)) == "<SubGraph 'f' (int32[]) -> float32[2]>"
    assert f(3).numpy().tolist() == [3, 3]
