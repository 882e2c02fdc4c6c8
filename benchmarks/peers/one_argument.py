"""Steps that take a batch as one array, and are called as graphs.

Each array costs a call of a graph some 12 microseconds, which is much of a small tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

Parts = Sequence[tf.Tensor]


def pack(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Returns arrays of int32 as one: how long each is, then all of them."""
    return np.concatenate([np.array(list(map(len, parts)), np.int32), *parts])


def traced(step: Callable[[Parts], Any], num_parts: int) -> Callable[[tf.Tensor], Any]:
    """Returns the graph of a step, which takes its parts packed.

    It is called as it is: `tf.function` would take longer to find it than it runs.
    """

    def of_packed(packed: tf.Tensor) -> Any:
        parts, sizes = packed[num_parts:], packed[:num_parts]
        return step(tf.split(parts, sizes, num=num_parts))

    return tf.function(of_packed, autograph=False).get_concrete_function(
        tf.TensorSpec([None], tf.int32)
    )
