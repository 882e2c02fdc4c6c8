"""Keras optimizers for embeddings of which a step uses a few rows."""

from recursive_tf.optimizers.lazy_adam import LazyAdam
from recursive_tf.optimizers.loss_scale import LossScaleOptimizer
from recursive_tf.optimizers.sparse_adagrad import SparseAdagrad

__all__ = ["LazyAdam", "LossScaleOptimizer", "SparseAdagrad"]
