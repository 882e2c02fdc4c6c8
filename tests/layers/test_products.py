"""Which matrix products a launch of a cell makes, whatever the number of its rows."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.batching.rows import assert_rows_are_alike

UNITS = 4
PAIR = 2 * UNITS
VECTOR = tf.TensorSpec([UNITS])
MATRIX = tf.TensorSpec([UNITS, UNITS])


def products(cell, x, state):
    """Returns the shapes of both factors of each product over two children."""
    cell.build((x,))
    with rtf.SubGraph("inside") as inside:
        inside.output(cell((inside.input(state), inside.input(state))))
    (graph,) = assert_rows_are_alike(inside)
    return [
        tuple(tuple(factor.shape) for factor in op.inputs)
        for op in graph.get_operations()
        if "MatMul" in op.type
    ]


def of_all_rows(*columns):
    """Returns products of rows, both children side by side, with shared matrices."""
    return [((None, PAIR), (PAIR, count)) for count in columns]


def test_the_tensor_of_an_rntn_is_one_product_of_all_rows():
    found = products(rtf.layers.RNTNCell(UNITS), UNITS, VECTOR)
    of_each_row = ((None, PAIR, UNITS), (None, PAIR, 1))  # q' V, times q.
    assert found == [*of_all_rows(PAIR * UNITS, UNITS), of_each_row]


def test_the_matrices_of_an_mv_rnn_are_one_product_of_all_rows():
    state = rtf.layers.MVState(VECTOR, MATRIX)
    found = products(rtf.layers.MVRNNCell(UNITS), UNITS + UNITS**2, state)
    of_each_row = ((None, UNITS, UNITS), (None, UNITS, 1))  # B a, and A b.
    assert found == [of_each_row, of_each_row, *of_all_rows(UNITS, UNITS)]


@pytest.mark.parametrize(
    ("kind", "state", "columns"),
    [
        ("TreeRNNCell", VECTOR, [UNITS]),
        ("TreeGRUCell", VECTOR, [5 * UNITS, UNITS]),
        ("TreeLSTMCell", rtf.layers.LSTMState(VECTOR, VECTOR), [5 * UNITS]),
    ],
)
def test_gates_are_one_product_of_all_rows(kind, state, columns):
    cell = getattr(rtf.layers, kind)(UNITS)
    assert products(cell, UNITS, state) == of_all_rows(*columns)
