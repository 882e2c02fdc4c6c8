"""Recursion as a first-class part of a TensorFlow graph.

>>> import recursive_tf as rtf
>>> with rtf.SubGraph("double_sum") as double_sum:
...     n = double_sum.input(tf.int32)
...     double_sum.output(tf.cond(n < 1, lambda: 0, lambda: 2 + double_sum(n - 1)))
>>> int(double_sum(5))
10
"""

import tensorflow as tf  # noqa: F401  (for the doctest)

from recursive_tf import keras_gate  # noqa: F401  (before anything uses Keras)

# isort: split
from recursive_tf import data, distribute, layers, optimizers, training
from recursive_tf.python.batching.refusal import CannotBatchError, RuleError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.learned.learned_policy import LearnedPolicy
from recursive_tf.python.learning.learn_policy import learn_policy
from recursive_tf.python.options import Options
from recursive_tf.python.packing import pack, unpack
from recursive_tf.python.reports.explain import explain
from recursive_tf.python.reports.explanation import Explanation, Explanations
from recursive_tf.python.reports.trace import trace
from recursive_tf.python.scheduling.measure import profile
from recursive_tf.python.scheduling.parallel import parallel
from recursive_tf.python.scheduling.profile import Profile
from recursive_tf.python.scheduling.schedule import Schedule
from recursive_tf.python.scheduling.simulate import Simulation, simulate
from recursive_tf.python.subgraphs.decorator import SubGraphFunction, subgraph
from recursive_tf.python.subgraphs.subgraph import SubGraph
from recursive_tf.python.vertices import Vertex, VertexFunction, vertex

__version__ = "0.1.0"

__all__ = [
    "CannotBatchError",
    "Explanation",
    "Explanations",
    "LearnedPolicy",
    "Operand",
    "Options",
    "Profile",
    "RuleError",
    "Schedule",
    "Simulation",
    "SubGraph",
    "SubGraphError",
    "SubGraphFunction",
    "VectorizedBlock",
    "Vertex",
    "VertexFunction",
    "__version__",
    "data",
    "distribute",
    "explain",
    "layers",
    "learn_policy",
    "optimizers",
    "pack",
    "parallel",
    "profile",
    "register_vectorization",
    "simulate",
    "subgraph",
    "trace",
    "training",
    "unpack",
    "vertex",
]
