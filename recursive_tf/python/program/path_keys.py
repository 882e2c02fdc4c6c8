"""Keys that follow the paths of invocations, for their random numbers.

A procedure that draws, or calls one that does, takes a key, and gives each call, each
turn of a loop and each draw another. These are ordinary values of the program, so both
executors have the same.
"""

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.program.closed_graph import closed_graph_around
from recursive_tf.python.program.graph_copy import GraphCopy

KEY = tf.TensorSpec([], tf.uint64)
# Where the keys of shared invocations begin: any number but that of the root.
_SHARED = 2**63


def key_at_root() -> tf.Tensor:
    """Returns the key of the invocation of a root call."""
    return tf.constant(0, KEY.dtype)


def key_of_shared(procedure: int, memo_key: tf.Tensor) -> tf.Tensor:
    """Returns the key of what invocations share, whose path is that of one of them.

    It is the same whichever that is.
    """
    start = tf.constant(_SHARED, KEY.dtype)
    by_procedure = mixed(start, tf.constant(procedure, KEY.dtype))
    return mixed(by_procedure, tf.cast(memo_key, KEY.dtype))


def keys_of_rows(key: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """Returns a key for each row of a tensor."""
    count = like.shape[0] if like.shape.rank else None
    if count is None:
        count = tf.shape(like)[0]
    return mixed(key, tf.cast(tf.range(count), KEY.dtype))


def next_key(copy: GraphCopy) -> tf.Tensor:
    """Returns a new key, in the default graph, for what is copied now."""
    procedure = closed_graph_around(copy.target)
    number = procedure.num_keys
    procedure.num_keys += 1
    return mixed(_key_around(copy), tf.constant(number, KEY.dtype))


def mixed(key: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
    """Returns a key of a key and a number, or several."""
    return library.recursive_mix_key(key=key, number=number)


def _key_around(copy: GraphCopy) -> tf.Tensor:
    """Returns the key of the invocation, or of the turn of the innermost loop."""
    if copy.parent is None:
        key = closed_graph_around(copy.target).key
        assert key is not None, "a procedure without a key draws"
        return key
    turn = copy.turn
    if turn is None:
        return _key_around(copy.parent)
    if turn.key is None:
        with copy.parent.target.as_default():
            key_of_loop = next_key(copy.parent)
        with copy.target.as_default():  # A branch in the loop may be what asks.
            turn.key = mixed(key_of_loop, turn.number)
    return turn.key
