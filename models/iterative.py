"""The TreeLSTM as an iterative program, to compare with the recursive one.

Two loops, over the leaves and then over the internal nodes, children before parents,
with every state in a tensor array (Jeong et al., EuroSys 2018, figure 1). One node
after the other: a loop does not know which nodes are independent.
"""

from collections.abc import Callable

import tensorflow as tf

from models.cells import State, TreeLSTMCell
from recursive_tf.data import Forest


def encode_iteratively(forest: Forest, cell: TreeLSTMCell) -> tuple[State, tf.Tensor]:
    """Computes what `models.recursive.encode` does, with `tf.while_loop`."""
    leaves = tf.where(forest.left < 0)[:, 0]
    internal = tf.where(forest.left >= 0)[:, 0]
    # Looked up before the loop, or its gradient would add a whole embedding a leaf.
    words = cell.embed(tf.gather(forest.tokens, leaves))
    words = _array(tf.size(leaves), words.shape[1]).unstack(words)

    def run_leaf(i: tf.Tensor, _: State) -> State:
        return cell.leaf(words.read(i))

    def run_internal(i: tf.Tensor, states: State) -> State:
        left = tf.gather(forest.left, internal[i])
        right = tf.gather(forest.right, internal[i])
        return cell(_read(states, left), _read(states, right))

    states = State(*(_array(forest.num_nodes, cell.hidden) for _ in State._fields))
    states = _run(leaves, run_leaf, states)
    states = _run(internal, run_internal, states)
    h, c = states.h.stack(), states.c.stack()
    return State(tf.gather(h, forest.roots), tf.gather(c, forest.roots)), h


def _run(
    nodes: tf.Tensor, body: Callable[[tf.Tensor, State], State], states: State
) -> State:
    """Writes the state of each of some nodes, in order, into an array of them all."""

    def step(i: tf.Tensor, states: State) -> tuple[tf.Tensor, State]:
        new = body(i, states)
        node = tf.cast(nodes[i], tf.int32)
        return i + 1, State(states.h.write(node, new.h), states.c.write(node, new.c))

    return tf.while_loop(lambda i, _: i < tf.size(nodes), step, (0, states))[1]


def _read(states: State, node: tf.Tensor) -> State:
    return State(states.h.read(node), states.c.read(node))


def _array(size: tf.Tensor, width: int) -> tf.TensorArray:
    return tf.TensorArray(
        tf.float32, size, element_shape=[width], clear_after_read=False
    )
