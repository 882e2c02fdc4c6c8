"""What `.map` takes rows of: `SubGraph.map` and that of decorated functions agree."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.values import Pair

V = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
SCALAR, ROW = tf.TensorSpec([]), tf.TensorSpec([2])
INDEX, TEXT = tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string)

# What is mapped over, and the specs of one row of it.
SAME = {
    "tensor": (tf.constant([[1.0, 2.0], [3.0, 4.0]]), ROW),
    "variable": (V, ROW),
    "Keras's variable": (keras.Variable([[1.0, 2.0], [3.0, 4.0]]), ROW),
    "variable in a tuple": ((V, [0, 1]), (ROW, INDEX)),
    "variable in a dict": ({"v": V, "i": [0, 1]}, {"v": ROW, "i": INDEX}),
    "list of variables": ([V, V], [ROW, ROW]),
    "texts": (["ab", "cd"], TEXT),
    "bytes": ([b"ab", b"cd"], TEXT),
    "lists of texts": ([["a", "b"], ["c", "d"]], tf.TensorSpec([2], tf.string)),
    "texts in a tuple": ((["ab", "cd"], [0, 1]), (TEXT, INDEX)),
    "array": (np.array([1.0, 2.0], np.float32), SCALAR),
    "array of texts": (np.array(["ab", "cd"]), TEXT),
    "list of arrays": ([np.ones(2, np.float32), np.zeros(2, np.float32)], ROW),
    "list of bools": ([True, False], tf.TensorSpec([], tf.bool)),
    "tuple of lists": (([1.0, 2.0], [3, 4]), (SCALAR, INDEX)),
    "dict of lists": ({"x": [1.0, 2.0], "i": [3, 4]}, {"x": SCALAR, "i": INDEX}),
    "named tuple of lists": (Pair([1.0, 2.0], [3, 4]), Pair(SCALAR, INDEX)),
}
REFUSED = {
    "a scalar": (1.0, SCALAR),
    "a scalar tensor": (tf.constant(1.0), SCALAR),
    "a text": ("abc", TEXT),
    "ragged": (tf.ragged.constant([[1.0], [2.0, 3.0]]), SCALAR),
    "sparse": (tf.sparse.from_dense([1.0, 2.0]), SCALAR),
    "lists of several lengths": ([[1.0, 2.0], [3.0]], tf.TensorSpec([None])),
}


def subgraph_of(spec):
    with rtf.SubGraph("same") as same:
        given = same.input(spec)
        same.output(tf.nest.map_structure(tf.identity, given))
    return same


def function_of(spec=None):
    if spec is None:
        return rtf.subgraph(lambda x: x)

    @rtf.subgraph
    def same(x: spec):
        return x

    return same


def plain_rows(rows):
    return tf.nest.map_structure(lambda tensor: tensor.numpy().tolist(), rows)


@pytest.mark.parametrize(("rows", "spec"), SAME.values(), ids=SAME)
def test_subgraphs_and_functions_map_over_the_same_rows(rows, spec):
    found = plain_rows(subgraph_of(spec).map(rows))
    assert plain_rows(function_of().map(rows)) == found
    assert plain_rows(function_of(spec).map(rows)) == found


@pytest.mark.parametrize(("rows", "spec"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("kind", ["subgraph", "function", "annotated"])
def test_what_has_no_rows_is_refused(kind, rows, spec):
    of_kind = {
        "subgraph": subgraph_of,
        "function": lambda _: function_of(),
        "annotated": function_of,
    }
    message_of(lambda: of_kind[kind](spec).map(rows))


def test_a_variables_rows_go_with_those_of_indices():
    @rtf.subgraph
    def f(row, n):
        if n < 1:
            return row
        return 2 * f(row, n - 1)

    found = f.map(V, [0, 1])
    assert found.numpy().tolist() == [[1, 2], [6, 8]]


def test_rows_of_a_variable_have_gradients():
    double = rtf.subgraph(lambda row: 2 * row)
    with tf.GradientTape() as tape:
        found = double.map(V)
    assert tape.gradient(found, V).numpy().tolist() == [[2, 2], [2, 2]]


def test_a_text_among_rows_is_the_same_for_all():
    @rtf.subgraph
    def f(x, how):
        return x + 1 if how == "more" else x

    assert f.map([1, 2], "more").numpy().tolist() == [2, 3]


def test_a_text_alone_has_no_rows():
    message = message_of(lambda: function_of().map("abc"))
    assert "gets no tensor, so it has no rows: a text" in message


def test_a_text_that_an_annotation_makes_a_tensor_has_no_rows():
    message = message_of(lambda: function_of(TEXT).map("abc"))
    assert "string[?] by its annotation, but in this call string[]" in message
    assert "A scalar has no rows" in message


def test_lists_of_several_lengths_say_how_to_pass_them():
    message = message_of(lambda: function_of().map([[1, 2], [3]]))
    assert (
        "Argument 'x' of SubGraph '<lambda>' is a list that is not a tensor" in message
    )


def test_maps_in_plain_python_take_the_same_rows():
    tf.config.run_functions_eagerly(True)
    try:
        assert plain_rows(function_of().map(V)) == [[1, 2], [3, 4]]
        assert plain_rows(function_of().map(["ab", "cd"])) == [b"ab", b"cd"]
        message_of(lambda: function_of().map("abc"))
    finally:
        tf.config.run_functions_eagerly(False)
