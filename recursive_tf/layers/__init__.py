"""Keras layers over forests: cells of trees, and the layer that runs any cell."""

from recursive_tf.layers.bidirectional_tree_encoder import BidirectionalTreeEncoder
from recursive_tf.layers.child_sum_tree_lstm import ChildSumTreeLSTMCell
from recursive_tf.layers.export import export
from recursive_tf.layers.gated_cell import LSTMState
from recursive_tf.layers.lattice_cell import LatticeCell, LatticeInputs
from recursive_tf.layers.lattice_gru import LatticeGRUCell, LatticeGRUState
from recursive_tf.layers.lattice_lstm import LatticeLSTMCell, LatticeState
from recursive_tf.layers.lookup import look_up
from recursive_tf.layers.mv_rnn import MVRNNCell, MVState
from recursive_tf.layers.nary_tree_lstm import NaryTreeLSTMCell
from recursive_tf.layers.node_pooling import NodeAttention, NodePooling
from recursive_tf.layers.per_node import PerNode
from recursive_tf.layers.rntn import RNTNCell
from recursive_tf.layers.sequence_encoder import SequenceEncoder
from recursive_tf.layers.td_tree_lstm import EDGES, TDTreeLSTMCell
from recursive_tf.layers.tree_cell import TreeCell
from recursive_tf.layers.tree_encoder import ForestInput, TreeEncoder
from recursive_tf.layers.tree_gru import TreeGRUCell
from recursive_tf.layers.tree_lstm import TreeLSTMCell
from recursive_tf.layers.tree_rnn import TreeRNNCell

__all__ = [
    "EDGES",
    "BidirectionalTreeEncoder",
    "ChildSumTreeLSTMCell",
    "ForestInput",
    "LSTMState",
    "LatticeCell",
    "LatticeGRUCell",
    "LatticeGRUState",
    "LatticeInputs",
    "LatticeLSTMCell",
    "LatticeState",
    "MVRNNCell",
    "MVState",
    "NaryTreeLSTMCell",
    "NodeAttention",
    "NodePooling",
    "PerNode",
    "RNTNCell",
    "SequenceEncoder",
    "TDTreeLSTMCell",
    "TreeCell",
    "TreeEncoder",
    "TreeGRUCell",
    "TreeLSTMCell",
    "TreeRNNCell",
    "export",
    "look_up",
]
