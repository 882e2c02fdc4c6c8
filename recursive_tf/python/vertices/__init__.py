"""`rtf.vertex`: one function for every vertex of a graph that is data.

In: a function of one vertex, and a graph with what its vertices pull. Out: two
SubGraphs, of which one, with `memo=`, is the state of a vertex and the other asks for
all vertices at once; and what these push.
"""

from recursive_tf.python.vertices.decorate import vertex
from recursive_tf.python.vertices.vertex import Vertex
from recursive_tf.python.vertices.vertex_function import VertexFunction

__all__ = ["Vertex", "VertexFunction", "vertex"]
