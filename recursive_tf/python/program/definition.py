"""What a program needs of one SubGraph."""

import dataclasses

from recursive_tf.python.tracing.function_graph import BodyGraph
from recursive_tf.python.tracing.signature import Signature


@dataclasses.dataclass
class Definition:
    """A SubGraph's traced body and its signature; `id` is the process's own.

    A memoized SubGraph has two: its front, whose body computes the key and calls the
    second, and what was defined, which `is_shared`.
    """

    id: int
    name: str
    body: BodyGraph
    signature: Signature
    is_shared: bool = False
