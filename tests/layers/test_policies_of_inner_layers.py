"""A layer that is made in one of the library's has the policy of that, not the global.

What a user makes in a cell of their own takes the global one, as in Keras: it is handed
on with `dtype=self.dtype_policy`.
"""

import keras
import pytest

import recursive_tf as rtf

POLICY = "mixed_bfloat16"
CELL, OTHER_CELL = (
    rtf.layers.NaryTreeLSTMCell(3, num_children=1, dtype=POLICY) for _ in range(2)
)
MAKE = {
    "TreeRNNCell": lambda **k: rtf.layers.TreeRNNCell(3, dropout=0.5, **k),
    "TreeLSTMCell": lambda **k: rtf.layers.TreeLSTMCell(3, dropout=0.5, **k),
    "TreeGRUCell": lambda **k: rtf.layers.TreeGRUCell(3, recurrent_dropout=0.5, **k),
    "ChildSumTreeLSTMCell": lambda **k: rtf.layers.ChildSumTreeLSTMCell(3, **k),
    "NaryTreeLSTMCell": lambda **k: rtf.layers.NaryTreeLSTMCell(3, **k),
    "RNTNCell": lambda **k: rtf.layers.RNTNCell(3, **k),
    "MVRNNCell": lambda **k: rtf.layers.MVRNNCell(3, **k),
    "TDTreeLSTMCell": lambda **k: rtf.layers.TDTreeLSTMCell(9, 3, **k),
    "LatticeLSTMCell": lambda **k: rtf.layers.LatticeLSTMCell(3, **k),
    "LatticeGRUCell": lambda **k: rtf.layers.LatticeGRUCell(3, **k),
    "NodeAttention": lambda **k: rtf.layers.NodeAttention(3, **k),
    "TreeEncoder": lambda **k: rtf.layers.TreeEncoder(CELL, **k),
    "BidirectionalTreeEncoder": lambda **k: rtf.layers.BidirectionalTreeEncoder(
        CELL, OTHER_CELL, **k
    ),
    "PerNode": lambda **k: rtf.layers.PerNode(keras.layers.Dense(3, **k)),
}


def policies_within(layer):
    """Returns the policies of a layer, and of all that was made in it."""
    return {inner.dtype_policy.name for inner in layer._flatten_layers()}


@pytest.mark.parametrize("name", MAKE)
def test_inner_layers_have_the_policy_of_the_layer(name):
    layer = MAKE[name](dtype=POLICY)
    assert policies_within(layer) == {POLICY}


@pytest.mark.parametrize("name", MAKE)
def test_so_have_those_of_a_layer_that_is_made_again(name):
    layer = MAKE[name](dtype=POLICY)
    again = type(layer).from_config(layer.get_config())
    assert policies_within(again) == {POLICY}


def test_keras_gives_the_global_policy_to_a_layer_that_is_told_nothing():
    class Cell(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.told = keras.layers.Dense(3, dtype=self.dtype_policy)
            self.not_told = keras.layers.Dense(3)

    cell = Cell(dtype=POLICY)
    assert cell.told.dtype_policy.name == POLICY
    assert cell.not_told.dtype_policy.name == keras.config.dtype_policy().name
