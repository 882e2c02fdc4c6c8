"""`rtf.subgraph`: a Python function that calls its own name becomes SubGraphs."""

from recursive_tf.python.subgraphs.decorator.decorate import subgraph
from recursive_tf.python.subgraphs.decorator.subgraph_function import SubGraphFunction

__all__ = ["SubGraphFunction", "subgraph"]
